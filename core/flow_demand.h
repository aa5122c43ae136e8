/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The demand of a set of flows until a given time. Only the test and the search call this (flow_test.h,
 * flow_search.h).
 */
#ifndef BULKHEAD_CORE_FLOW_DEMAND_H
#define BULKHEAD_CORE_FLOW_DEMAND_H

#include "core/flow.h"
#include "core/flow_pause.h"
#include "core/wide.h"

/* The demand of the tasks until a point, sum(eta_i C'_i), with the lead, in its two parts. */
struct flow_demand {
    wide_t bytes;
    wide_t fixed;
};

static inline struct flow_demand flow_demand_until(const struct flow_set *set, uint64_t t)
{
    struct flow_demand demand = {set->lead_bytes, set->lead_fixed};

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        flow_pause();
        if (t >= task->first) {
            uint64_t packets = 1 + (t - task->first) / task->period;

            demand.bytes += wide_product(packets, task->bytes);
            demand.fixed += wide_product(packets, task->fixed);
        }
    }
    return demand;
}

static inline wide_t flow_times_bandwidth(wide_t bytes, wide_t fixed, uint64_t bytes_per_s)
{
    return fixed * bytes_per_s + bytes * FLOW_HALF_NS_PER_S;
}

/* Start of the piece that contains t: the largest D' - J' that is not after t. */
static inline uint64_t flow_piece_of(const struct flow_set *set, uint64_t t)
{
    uint64_t begin = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t first = set->tasks[i].first;

        flow_pause();
        begin = first <= t && first > begin ? first : begin;
    }
    return begin;
}

#endif
