/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory whose lines other software cannot evict, for table nodes that a specification places (X5): on-chip
 * memory, and kernel memory that locked ways of the outer cache hold.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_LOCAL_MEMORY_H
#define BULKHEAD_MICROKERNEL_ARMV7A_LOCAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum placement {
    PLACE_PLAIN, /* frames from the memory manager */
    PLACE_CHIP,
    PLACE_WAY,
    PLACEMENTS,
};

/* Loads `bytes` bytes of kernel memory into as many ways as they need; if they are more than ARCH_HELD_BYTES,
 * which is an invalid request, none. Call it once, before all other functions here, with the outer cache
 * on. */
void local_start(uint32_t bytes);

/* Allocates `bytes`, a power of two of at least 1 KiB, aligned to its size and cleared; 0: there is no
 * room. */
uint32_t local_take(enum placement where, uint32_t bytes);
void local_release(uint32_t address, uint32_t bytes);

/* The placement of an address. */
enum placement local_place(uint32_t address);

#endif
