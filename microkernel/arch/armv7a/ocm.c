/* SPDX-License-Identifier: Apache-2.0
 *
 * One bit for each KiB. bound: BOARD_OCM_BYTES / 1 KiB
 */
#include "microkernel/arch/armv7a/ocm.h"
#include "board.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/clear.h"

#define UNIT  0x400u
#define UNITS (BOARD_OCM_BYTES / UNIT)
#define BITS  32u

static uint32_t taken[UNITS / BITS];

static bool is_taken(uint32_t unit)
{
    return (taken[unit / BITS] >> unit % BITS & 1u) != 0;
}

static void set(uint32_t address, uint32_t bytes, bool to)
{
    for (uint32_t unit = (address - BOARD_OCM_FIRST) / UNIT; bytes > 0; unit++, bytes -= UNIT) {
        taken[unit / BITS] &= ~(1u << unit % BITS);
        taken[unit / BITS] |= (uint32_t)to << unit % BITS;
    }
}

uint32_t ocm_take(uint32_t bytes)
{
    for (uint32_t unit = 0; unit < UNITS; unit += bytes / UNIT) {
        uint32_t free = 0;

        while (free < bytes / UNIT && !is_taken(unit + free)) {
            free++;
        }
        if (free == bytes / UNIT) {
            uint32_t address = BOARD_OCM_FIRST + unit * UNIT;

            set(address, bytes, true);
            clear_words(arch_memory(address), bytes);
            return address;
        }
    }
    return 0;
}

void ocm_release(uint32_t address, uint32_t bytes)
{
    set(address, bytes, false);
}

bool ocm_has(uint32_t address)
{
    return address >= BOARD_OCM_FIRST && address - BOARD_OCM_FIRST < BOARD_OCM_BYTES;
}
