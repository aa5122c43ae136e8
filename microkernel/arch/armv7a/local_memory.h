/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory whose lines nobody else evicts, for table nodes that a specification places (X5): the memory on the
 * chip, and memory of the kernel's that locked ways of the outer cache hold.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_LOCAL_MEMORY_H
#define BULKHEAD_MICROKERNEL_ARMV7A_LOCAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum placement {
    PLACE_PLAIN, /* frames that the memory manager gave */
    PLACE_CHIP,
    PLACE_WAY,
    PLACEMENTS,
};

/* Brings so many bytes of the kernel's into as many ways as they take; more than ARCH_HELD_BYTES, which
 * nobody may ask for: none. Once, before anything else uses it; the outer cache is on. */
void local_start(uint32_t bytes);

/* Takes `bytes`, a power of two of at least 1 KiB, at a multiple of it; 0: there is no place. Cleared. */
uint32_t local_take(enum placement where, uint32_t bytes);
void local_release(uint32_t address, uint32_t bytes);

/* Where an address is. */
enum placement local_place(uint32_t address);

#endif
