/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Proportional shares with a floor. A core whose share is below the floor gets the floor and is excluded from
 * the division, which can push the shares of others below it. So there is at most one round for each core,
 * and only one if no core is below.
 */
#include "core/regulator_share.h"
#include <stdbool.h>

static bool has(uint32_t cores, uint32_t core)
{
    return ((cores >> core) & 1u) != 0;
}

uint32_t regulator_count(uint32_t cores)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        count += has(cores, i);
    }
    return count;
}

static uint64_t sum_of(uint32_t cores, const uint32_t accesses[REGULATOR_MAX_CORES])
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        sum += has(cores, i) ? accesses[i] : 0;
    }
    return sum;
}

/* One round of division; returns the cores that would get less than the floor. */
static uint32_t divide(uint64_t events, uint64_t floor_events, uint32_t cores,
                       const uint32_t accesses[REGULATOR_MAX_CORES], uint64_t budgets[REGULATOR_MAX_CORES])
{
    uint64_t sum = sum_of(cores, accesses);
    uint64_t all = sum != 0 ? sum : regulator_count(cores);
    uint32_t below = 0;

    if (all == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (!has(cores, i)) {
            continue;
        }
        budgets[i] = events * (sum != 0 ? accesses[i] : 1) / all;
        below |= budgets[i] < floor_events ? 1u << i : 0;
    }
    return below;
}

void regulator_share(uint64_t total_events, uint64_t floor_events, uint32_t cores,
                     const uint32_t accesses[REGULATOR_MAX_CORES], uint64_t budgets[REGULATOR_MAX_CORES])
{
    uint64_t events = total_events < REGULATOR_MAX_EVENTS ? total_events : REGULATOR_MAX_EVENTS;
    uint32_t count = regulator_count(cores);
    uint64_t average = count != 0 ? events / count : 0;
    uint64_t least = floor_events < average ? floor_events : average;

    for (uint32_t round = 0; round < REGULATOR_MAX_CORES; round++) {
        uint32_t below = divide(events, least, cores, accesses, budgets);

        for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
            if (has(below, i)) {
                budgets[i] = least;
                events -= least;
            }
        }
        cores &= ~below;
        if (below == 0 || cores == 0) {
            return;
        }
    }
}
