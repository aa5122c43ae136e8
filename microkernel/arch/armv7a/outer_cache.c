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
#define FIRST_WAY       0x80u /* the way that is locked first; further ones have lower numbers */
#define LINE_BYTES      32u
#define MOST_POLLS      100000u

static uint32_t held; /* number of locked ways */

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

/* Loads one way. The loop must access no other memory: a line of other data would replace a line that has to
 * stay. A line that the first-level cache evicts would do so too, so the first-level cache is cleaned before
 * the way is unlocked. */
static void load_way(const volatile uint32_t *word, uint32_t bytes, uint32_t way)
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
        load_way(memory + i * (bytes / sizeof *memory), bytes, FIRST_WAY >> i);
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
