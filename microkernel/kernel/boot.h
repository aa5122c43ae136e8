/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel starts: a system's description, which is in the image at a place that the board has for it,
 * and the header at the start of each component's code. kernel_boot() checks both and sets up all objects;
 * the memory manager's component is the only one that has memory then. `bulkhead build` writes the
 * description (src/bulkhead/microkernel/description.py); systems for the kernel's own tests have it in C.
 */
#ifndef BULKHEAD_MICROKERNEL_BOOT_H
#define BULKHEAD_MICROKERNEL_BOOT_H

#include "core/mxu_admission.h"
#include "microkernel/kernel/config.h"
#include <stdbool.h>
#include <stdint.h>

#define HEADER_MAGIC 0x4D78554Bu
#define BOOT_MAGIC   0x53584D42u /* "BMXS" */
#define BOOT_VERSION 1u

/* At the start of a component's code, which is read-only and executable; its sizes are those of regions. */
struct component_header {
    uint32_t magic;
    uint32_t entry;
    uint32_t code_bytes;
    uint32_t data_first; /* .data, .bss */
    uint32_t data_bytes;
    uint32_t stack_first;
    uint32_t stack_bytes;
    uint32_t reserved; /* 0 */
};

struct boot_component {
    char name[NAME_BYTES]; /* zero-terminated */
    uint32_t code_first;   /* where its header is */
    uint64_t period_ns;    /* of its job; 0: none */
    uint64_t budget_ns;    /* of each period; 0 without one */
    uint32_t spec;         /* of its data, malloc() and mmap() */
    uint8_t priority;      /* 0 is the highest */
    uint8_t hardware;      /* rights on SLOT_HARDWARE */
    uint8_t serves;        /* 1: its thread waits for calls */
    uint8_t call_count;
    uint8_t calls[MOST_CALLS]; /* components whose endpoints it has in SLOT_CALLS and after */
    uint32_t reserved;         /* 0 */
};

/* Flags of struct boot_memory. */
#define MEMORY_FIXED    1u /* at `first`; else where the memory manager finds room */
#define MEMORY_ADMITTED 2u /* no start unless `first`, `mechanism`, `independence` are what is admitted */
#define MEMORY_HEAP     4u /* of malloc() */
#define MEMORY_FLAGS    7u

/* Memory that the manager allocates before anything runs: what has a fixed place first, then the others, each
 * in the order of the list. */
struct boot_memory {
    char name[MEMORY_NAME_BYTES]; /* zero-terminated; by which rt_memory() finds it */
    uint32_t first;
    uint32_t bytes;
    uint32_t spec;
    uint32_t shared; /* id of shared memory, or MXU_NOT_SHARED */
    uint8_t component;
    uint8_t rights;
    uint8_t type; /* enum mxu_memory_type */
    uint8_t flags;
    uint8_t mechanism; /* enum mxu_mechanism */
    uint8_t independence;
    uint8_t reserved[2]; /* 0 */
};

/* What all components together have of the hardware. */
struct boot_hardware {
    uint32_t limit[MXU_RESOURCES];
    uint8_t system_regions; /* MPU: in each component; more than the kernel's two leave fewer dynamic ones */
    uint8_t eviction;       /* enum mxu_policy */
    uint8_t most_region_bits; /* dynamic regions, entries of tables: at most 2^this bytes; 32: no limit */
    uint8_t table_frames;     /* MMU: of each component, for second-level tables */
};

/* Flags of struct boot_system. */
#define SYSTEM_TAGS  1u /* each line on the console begins with its component's name, and the time */
#define SYSTEM_FLAGS 1u

struct boot_system {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes; /* of this structure */
    uint32_t crc;   /* CRC-32 of all that follows (core/crc32.h) */
    uint32_t component_count;
    uint32_t memory_count;
    uint32_t clock_hz; /* of clock_read() */
    uint32_t timer_hz; /* of HW_TICK */
    uint64_t run_ns;   /* after which the system ends; 0: never */
    uint32_t flags;
    uint32_t reserved; /* 0 */
    struct boot_hardware hardware;
    struct boot_component component[MOST_COMPONENTS];
    struct boot_memory memory[MOST_MEMORY];
};

/* Null, or what is wrong with a description: of itself, before anything that it names is looked at. */
const char *description_check(const struct boot_system *system);

/* Returns null, or what is wrong with the description. On success kernel.next is the manager's thread. The
 * description must stay. */
const char *kernel_boot(const struct boot_system *system);

#endif
