// SPDX-License-Identifier: Apache-2.0
//
// Where things are in the guest's RAM: the image, and the arena, which is what the image and the device
// tree leave and which the program may use as it likes. Read by board.c before and by programs after the
// MMU is on.
#ifndef BULKHEAD_GUESTS_MEMORY_H
#define BULKHEAD_GUESTS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// RAM is mapped, and so used, in whole blocks of this size.
#define MEMORY_BLOCK_BYTES 0x200000u

struct memory_area {
    uint64_t start; // where the program sees it
    uint64_t bytes;
};

// Start of the 2 MiB block that the image was linked into, and how much lies there before the image: where
// a loader may have left a device tree.
const void *memory_ram_start(void);
size_t memory_ram_start_bytes(void);

// The largest stretch of mapped RAM that holds neither image nor device tree, page-aligned; empty if none.
struct memory_area memory_arena(void);

#endif
