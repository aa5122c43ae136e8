/* SPDX-License-Identifier: Apache-2.0
 *
 * Input of the kernel at start: the system's description, at an address in the image that the board defines,
 * and the header at the start of each component's code. kernel_boot() checks both and sets up all objects;
 * the memory manager's component is then the only one with memory. `bulkhead build` writes the description
 * (src/bulkhead/microkernel/description.py); systems for the kernel's own tests define it in C.
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

/* At the start of a component's code, which is read-only and executable; sizes are those of regions. */
struct component_header {
    uint32_t magic;
    uint32_t entry;
    uint32_t code_bytes;
    uint32_t data_first; /* covers .data and .bss */
    uint32_t data_bytes;
    uint32_t stack_first;
    uint32_t stack_bytes;
    uint32_t reserved; /* 0 */
};

struct boot_component {
    char name[NAME_BYTES]; /* zero-terminated */
    uint32_t code_first;   /* address of its header */
    uint64_t period_ns;    /* of its job; 0: none */
    uint64_t budget_ns;    /* in each period; 0: no budget */
    uint32_t spec;         /* for its data, malloc() and mmap() */
    uint8_t priority;      /* 0 is the highest */
    uint8_t hardware;      /* rights on SLOT_HARDWARE */
    uint8_t serves;        /* 1: its thread waits for calls */
    uint8_t call_count;
    uint8_t calls[MOST_CALLS]; /* components whose endpoints are in its slots from SLOT_CALLS on */
    uint32_t reserved;         /* 0 */
};

/* Flags of struct boot_memory. */
#define MEMORY_FIXED    1u /* at `first`; otherwise the memory manager chooses the address */
/* the system does not start unless `first`, `mechanism` and `independence` are as admitted */
#define MEMORY_ADMITTED 2u
#define MEMORY_HEAP     4u /* heap of malloc() */
#define MEMORY_FLAGS    7u

/* Memory that the manager allocates before components run: memory with fixed addresses first, then the rest,
 * each in the order of the list. */
struct boot_memory {
    char name[MEMORY_NAME_BYTES]; /* zero-terminated; rt_memory() finds it by this name */
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

/* Hardware resources of all components together. */
struct boot_hardware {
    uint32_t limit[MXU_RESOURCES];
    /* MPU: in each component; more than the kernel's two leave fewer dynamic regions */
    uint8_t system_regions;
    uint8_t eviction; /* enum mxu_policy */
    /* maximum size of dynamic regions and table entries: 2^this bytes; 32: no limit */
    uint8_t most_region_bits;
    uint8_t table_frames; /* MMU: frames of each component for second-level tables */
};

/* Flags of struct boot_system. */
#define SYSTEM_TAGS  1u /* each line on the console begins with its component's name and the time */
#define SYSTEM_FLAGS 1u

struct boot_system {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes; /* size of this structure */
    uint32_t crc;   /* CRC-32 of all that follows (core/crc32.h) */
    uint32_t component_count;
    uint32_t memory_count;
    uint32_t clock_hz; /* frequency of clock_read() */
    uint32_t timer_hz; /* frequency of HW_TICK's clock */
    uint64_t run_ns;   /* run time of the system; 0: endless */
    uint32_t flags;
    uint32_t reserved; /* 0 */
    struct boot_hardware hardware;
    struct boot_component component[MOST_COMPONENTS];
    struct boot_memory memory[MOST_MEMORY];
};

/* Null, or an error message. Checks the description itself, before anything that it refers to is read. */
const char *description_check(const struct boot_system *system);

/* Null, or an error message. On success kernel.next is the manager's thread. The description must remain in
 * memory. */
const char *kernel_boot(const struct boot_system *system);

#endif
