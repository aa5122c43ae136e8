/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel starts: a system's description, which the image carries, and the header at the start of
 * each component's code. kernel_boot() checks both and sets up all objects; the memory manager's component is
 * the only one that has memory then.
 */
#ifndef BULKHEAD_MICROKERNEL_BOOT_H
#define BULKHEAD_MICROKERNEL_BOOT_H

#include "microkernel/kernel/config.h"
#include <stdbool.h>
#include <stdint.h>

#define HEADER_MAGIC 0x4D78554Bu

/* At the start of a component's code, which is read-only and executable; its sizes are powers of two. */
struct component_header {
    uint32_t magic;
    uint32_t entry;
    uint32_t code_bytes;
    uint32_t data_first; /* .data, .bss */
    uint32_t data_bytes;
    uint32_t stack_first;
    uint32_t stack_bytes;
    uint32_t heap_bytes; /* of malloc() */
};

struct boot_component {
    char name[NAME_BYTES]; /* zero-terminated */
    uint32_t code_first;   /* where its header is */
    uint32_t spec;         /* of its data, malloc() and mmap() */
    uint8_t priority;      /* 0 is the highest */
    uint8_t hardware;      /* rights on SLOT_HARDWARE */
    uint8_t serves;        /* 1: its thread waits for calls */
    uint8_t call_count;
    uint8_t calls[MOST_CALLS]; /* components whose endpoints it has in SLOT_CALLS and after */
};

struct boot_system {
    uint32_t component_count;
    struct boot_component component[MOST_COMPONENTS];
};

/* Linked to the kernel by the build of an image. */
extern const struct boot_system boot_system;

/* Returns null, or what is wrong with the description. On success kernel.next is the manager's thread. */
const char *kernel_boot(const struct boot_system *system);

#endif
