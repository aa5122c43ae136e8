// SPDX-License-Identifier: Apache-2.0
//
// Layout of the guest's RAM: the image, and the arena, which is the rest beside image and device tree, free
// for the program. Used by board.c before and by programs after the MMU is turned on.
#ifndef BULKHEAD_GUESTS_MEMORY_H
#define BULKHEAD_GUESTS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// RAM is mapped, and therefore used, in whole blocks of this size.
#define MEMORY_BLOCK_BYTES 0x200000u

struct memory_area {
    uint64_t start; // address for the program
    uint64_t bytes;
};

// Start of the 2 MiB block that the image was linked into, and the number of bytes there before the image,
// where a loader may have put a device tree.
const void *memory_ram_start(void);
size_t memory_ram_start_bytes(void);

// The largest contiguous part of mapped RAM that contains neither image, nor device tree, nor the socket
// device's pool, page-aligned; empty if there is none.
struct memory_area memory_arena(void);

#endif
