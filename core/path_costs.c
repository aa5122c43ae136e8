/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Summarizes observed times of the parts of a packet's path.
 */
#include "core/path_costs.h"

#define CALIBRATIONS 32u

/* Four buckets for each power of two; below four, one bucket for each value. src/bulkhead/run/path_costs.py
 * uses the same buckets. */
static uint32_t bucket_of(uint64_t ticks)
{
    uint32_t power;
    uint32_t bucket;

    if (ticks < 4) {
        return (uint32_t)ticks;
    }
    power = 63u - (uint32_t)__builtin_clzll(ticks);
    bucket = 4 * (power - 1) + (uint32_t)(ticks >> (power - 2) & 3);
    return bucket < PATH_COST_BUCKETS ? bucket : PATH_COST_BUCKETS - 1;
}

void path_add(struct path_recorder *recorder, enum bh_path_part part, uint64_t ticks)
{
    struct status_path_cost *cost = &recorder->parts[part];

    if (cost->count == 0 || ticks < cost->min) {
        cost->min = ticks;
    }
    if (ticks > cost->max) {
        cost->max = ticks;
    }
    cost->count++;
    cost->sum += ticks;
    cost->histogram[bucket_of(ticks)]++;
}

void path_record(struct path_recorder *recorder, const struct path_mark *mark, enum bh_path_part part,
                 uint64_t allowance, uint32_t steps)
{
    uint64_t taken = path_clock() - mark->at;
    uint64_t without = recorder->inner_ticks - mark->inner + recorder->empty_ticks + allowance;

    if (steps != 0) {
        path_add(recorder, part, taken > without ? (taken - without + steps - 1) / steps : 0);
    }
    recorder->inner_ticks = mark->inner + (path_clock() - mark->at) + recorder->empty_ticks;
}

void path_calibrate(struct path_recorder *recorder)
{
    recorder->empty_ticks = UINT64_MAX;
    for (uint32_t i = 0; i < CALIBRATIONS; i++) {
        uint64_t before = path_clock();
        uint64_t taken = path_clock() - before;

        recorder->empty_ticks = taken < recorder->empty_ticks ? taken : recorder->empty_ticks;
    }
}
