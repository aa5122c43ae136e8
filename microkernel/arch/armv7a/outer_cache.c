/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the PL310 that the kernel uses.
 */
#include "microkernel/arch/armv7a/outer_cache.h"
#include "board.h"
#include "microkernel/arch/armv7a/cp15.h"
#include "microkernel/arch/armv7a/first_level.h"
#include "microkernel/kernel/arch.h"

#define CONTROL         0x100u
#define CACHE_SYNC      0x730u
#define INVALIDATE_WAYS 0x77Cu
#define CLEAN_WAYS      0x7FCu
#define LOCK_DATA       0x900u
#define LOCK_CODE       0x904u
#define ENABLED         1u
#define ALL_WAYS        0xFFu
#define FIRST_WAY       0x80u /* of the kernel's; the others are below it */
#define LINE_BYTES      32u
#define MOST_POLLS      100000u

static uint32_t held; /* ways */

static volatile uint32_t *cache(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(BOARD_PL310_FIRST + offset);
}

/* bound: MOST_POLLS */
static void do_ways(uint32_t operation, uint32_t ways)
{
    *cache(operation) = ways;
    for (uint32_t i = 0; i < MOST_POLLS && (*cache(operation) & ways) != 0; i++) {
    }
    *cache(CACHE_SYNC) = 0;
}

void outer_cache_start(void)
{
    if ((*cache(CONTROL) & ENABLED) == 0) {
        do_ways(INVALIDATE_WAYS, ALL_WAYS);
        *cache(CONTROL) = ENABLED;
    }
}

/* The loop touches nothing else: what it would bring in takes the place of a line that is to stay. So does
 * what the first-level cache gives up, which therefore has nothing dirty when the way is opened. */
static void hold_one(const volatile uint32_t *word, uint32_t bytes, uint32_t way)
{
    first_level_clean();
    *cache(LOCK_CODE) = ALL_WAYS;
    *cache(LOCK_DATA) = ALL_WAYS & ~way;
    for (uint32_t i = 0; i < bytes / sizeof *word; i += LINE_BYTES / sizeof *word) {
        (void)word[i];
    }
    cp15_complete();
}

void outer_cache_hold(const uint32_t *memory, uint32_t bytes, uint32_t ways)
{
    for (uint32_t i = 0; i < ways; i++) {
        hold_one(memory + i * (bytes / sizeof *memory), bytes, FIRST_WAY >> i);
        held |= FIRST_WAY >> i;
    }
    *cache(LOCK_DATA) = held;
    *cache(LOCK_CODE) = held;
}

bool outer_cache_lock(uint32_t ways)
{
    if (ways > ALL_WAYS) {
        return false;
    }
    *cache(LOCK_DATA) = ways | held;
    *cache(LOCK_CODE) = ways | held;
    return true;
}

void outer_cache_clean(void)
{
    do_ways(CLEAN_WAYS, ALL_WAYS & ~held);
}
