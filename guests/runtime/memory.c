// SPDX-License-Identifier: Apache-2.0
//
// The arena is cut out of the RAM region that holds the image. Pure arithmetic on the board's description
// and the linker's symbols.
#include "guests/runtime/memory.h"

#include <arch/mmu.h>

#include "guests/runtime/board.h"

extern char image_start[];
extern char image_end[];

enum { page_bytes = 4096 };

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) & ~(to - 1);
}

static uint64_t round_down(uint64_t value, uint64_t to)
{
    return value & ~(to - 1);
}

const void *memory_ram_start(void)
{
    return image_start - memory_ram_start_bytes();
}

size_t memory_ram_start_bytes(void)
{
    return mmu_physical(image_start) % MEMORY_BLOCK_BYTES;
}

// The part of `area` before or after `hole`, whichever is larger.
static struct memory_area without(struct memory_area area, uint64_t hole_start, uint64_t hole_end)
{
    uint64_t end = area.start + area.bytes;

    if (hole_end <= area.start || hole_start >= end)
        return area;
    uint64_t before = hole_start > area.start ? hole_start - area.start : 0;
    uint64_t behind = hole_end < end ? end - hole_end : 0;
    if (before >= behind)
        return (struct memory_area){area.start, before};
    return (struct memory_area){hole_end, behind};
}

struct memory_area memory_arena(void)
{
    const struct board *b = board();
    uint64_t start = mmu_physical(image_start);
    struct memory_area area = {0, 0};

    for (uint32_t i = 0; i < b->ram_count; i++) {
        uint64_t low = round_up(b->ram[i].address, MEMORY_BLOCK_BYTES);
        uint64_t high = round_down(b->ram[i].address + b->ram[i].size, MEMORY_BLOCK_BYTES);
        if (start >= low && start < high)
            area = (struct memory_area){low, high - low};
    }
    area = without(area, round_down(start, page_bytes), round_up(mmu_physical(image_end), page_bytes));
    uint64_t blob = mmu_physical(b->tree.tree.blob);
    if (b->has_tree)
        area = without(area, round_down(blob, page_bytes),
                       round_up(blob + b->tree.tree.total_bytes, page_bytes));
    if (b->socket_pool.size != 0)
        area = without(area, b->socket_pool.address, b->socket_pool.address + b->socket_pool.size);
    area.start = mmu_virtual(area.start);
    return area;
}
