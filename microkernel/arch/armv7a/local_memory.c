/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation of on-chip memory and locked ways: one bit for each KiB. bound: BOARD_OCM_BYTES / 1 KiB
 */
#include "microkernel/arch/armv7a/local_memory.h"
#include "board.h"
#include "microkernel/arch/armv7a/outer_cache.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/clear.h"

#define UNIT 0x400u
#define BITS 32u

/* Each part is as large as a way and aligned to its size, so it has one line in each set. It is not cleared
 * at start, which would take longer than the rest of the start; local_take() clears what it allocates. */
static _Alignas(ARCH_WAY_BYTES) uint32_t way_memory[ARCH_HELD_BYTES / sizeof(uint32_t)]
    __attribute__((section(".ways")));

static uint32_t way_bytes; /* bytes that are in locked ways */
static uint32_t chip_taken[(BOARD_OCM_BYTES / UNIT + BITS - 1u) / BITS];
static uint32_t way_taken[ARCH_HELD_BYTES / UNIT / BITS];

struct area {
    uint32_t first;
    uint32_t bytes;
    uint32_t *taken;
};

static struct area area_of(enum placement where)
{
    return where == PLACE_CHIP ? (struct area){BOARD_OCM_FIRST, BOARD_OCM_BYTES, chip_taken}
                               : (struct area){arch_physical(way_memory), way_bytes, way_taken};
}

static bool is_taken(const struct area *area, uint32_t unit)
{
    return (area->taken[unit / BITS] >> unit % BITS & 1u) != 0;
}

static void set(const struct area *area, uint32_t address, uint32_t bytes, bool to)
{
    for (uint32_t unit = (address - area->first) / UNIT; bytes > 0; unit++, bytes -= UNIT) {
        area->taken[unit / BITS] &= ~(1u << unit % BITS);
        area->taken[unit / BITS] |= (uint32_t)to << unit % BITS;
    }
}

void local_start(uint32_t bytes)
{
    uint32_t ways = bytes <= ARCH_HELD_BYTES ? (bytes + ARCH_WAY_BYTES - 1u) / ARCH_WAY_BYTES : 0;

    way_bytes = ways * ARCH_WAY_BYTES;
    if (ways != 0) {
        outer_cache_hold(way_memory, ARCH_WAY_BYTES, ways);
    }
}

uint32_t local_take(enum placement where, uint32_t bytes)
{
    struct area area = area_of(where);

    for (uint32_t unit = 0; unit < area.bytes / UNIT; unit += bytes / UNIT) {
        uint32_t free = 0;

        while (free < bytes / UNIT && !is_taken(&area, unit + free)) {
            free++;
        }
        if (free == bytes / UNIT) {
            uint32_t address = area.first + unit * UNIT;

            set(&area, address, bytes, true);
            clear_words(arch_memory(address), bytes);
            return address;
        }
    }
    return 0;
}

void local_release(uint32_t address, uint32_t bytes)
{
    struct area area = area_of(local_place(address));

    set(&area, address, bytes, false);
}

enum placement local_place(uint32_t address)
{
    for (enum placement where = PLACE_CHIP; where < PLACEMENTS; where++) {
        struct area area = area_of(where);

        if (address >= area.first && address - area.first < area.bytes) {
            return where;
        }
    }
    return PLACE_PLAIN;
}
