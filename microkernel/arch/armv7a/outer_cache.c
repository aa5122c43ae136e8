/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the PL310 that the kernel uses.
 */
#include "microkernel/arch/armv7a/outer_cache.h"
#include "board.h"
#include "microkernel/kernel/arch.h"

#define CACHE_SYNC 0x730u
#define CLEAN_WAYS 0x7FCu
#define LOCK_DATA  0x900u
#define LOCK_CODE  0x904u
#define ALL_WAYS   0xFFu
#define MOST_POLLS 100000u

static volatile uint32_t *cache(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(BOARD_PL310_FIRST + offset);
}

bool outer_cache_lock(uint32_t ways)
{
    if (ways >= ALL_WAYS) {
        return false;
    }
    *cache(LOCK_DATA) = ways;
    *cache(LOCK_CODE) = ways;
    return true;
}

void outer_cache_clean(void)
{
    *cache(CLEAN_WAYS) = ALL_WAYS;
    for (uint32_t i = 0; i < MOST_POLLS && (*cache(CLEAN_WAYS) & ALL_WAYS) != 0; i++) {
    }
    *cache(CACHE_SYNC) = 0;
}
