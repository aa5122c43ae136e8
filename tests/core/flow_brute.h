// SPDX-License-Identifier: Apache-2.0
// The definition of F4, evaluated at every point, with exact sums of fractions: the oracle of the tests.
#pragma once

#include "core/flow.h"
#include <algorithm>
#include <numeric>
#include <random>

namespace brute {

__extension__ using wide = __int128;

inline wide cost(const flow_task &task, wide b)
{
    return task.fixed * b + wide{task.bytes} * FLOW_HALF_NS_PER_S;
}

// All periods' least common multiple; sets are small.
inline uint64_t hyperperiod(const flow_set &set)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < set.count; i++) {
        all = std::lcm(all, set.tasks[i].period);
    }
    return all;
}

// U'(b) against 1: negative, 0, positive.
inline int load(const flow_set &set, uint64_t b)
{
    const uint64_t all = hyperperiod(set);
    wide sum = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        sum += cost(set.tasks[i], b) * (all / set.tasks[i].period);
    }
    const wide one = wide{b} * all;
    return sum < one ? -1 : sum > one;
}

inline bool in_order(const flow_set &set, uint64_t b, uint64_t t)
{
    wide sum = set.lead_fixed * wide{b} + wide{set.lead_bytes} * FLOW_HALF_NS_PER_S;
    wide longest = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        const flow_task &task = set.tasks[i];
        if (t >= task.first) {
            sum += (1 + (t - task.first) / task.period) * cost(task, b);
            continue;
        }
        longest = std::max(longest, task.block_fixed * wide{b} + wide{task.block_bytes} * FLOW_HALF_NS_PER_S);
        if (task.several) {
            longest = std::max(longest, set.dma_fixed * wide{b} + wide{set.chunk_bytes} * FLOW_HALF_NS_PER_S);
        }
    }
    return sum + longest <= wide{t} * b;
}

// Every point until the second hyperperiod after the first packets of all flows are due.
inline bool schedulable(const flow_set &set, uint64_t b)
{
    if (load(set, b) > 0) {
        return false;
    }
    uint64_t end = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        end = std::max(end, set.tasks[i].first + 2 * hyperperiod(set));
    }
    for (uint32_t i = 0; i < set.count; i++) {
        for (uint64_t t = set.tasks[i].first; t < end; t += set.tasks[i].period) {
            if (!in_order(set, b, t)) {
                return false;
            }
        }
    }
    return true;
}

// Sets whose hyperperiod is short: periods are divisors of 5040 half ns. A byte takes 2 half ns at 1 GB/s.
inline flow_set any_set(std::mt19937_64 &random)
{
    const uint64_t periods[] = {12, 14, 15, 16, 18, 20, 21, 24, 28, 30, 36, 40, 48, 60, 80, 126, 252};
    flow_set set = {};
    set.count = 1 + uint32_t(random() % 5);
    set.chunk_bytes = 1 + random() % 6;
    set.dma_fixed = random() % 2;
    set.lead_fixed = random() % 2 != 0 ? random() % 8 : 0;
    set.lead_bytes = random() % 2 != 0 ? random() % 3 : 0;
    for (uint32_t i = 0; i < set.count; i++) {
        flow_task &task = set.tasks[i];
        task.period = periods[random() % std::size(periods)];
        task.first = 1 + random() % (random() % 4 == 0 ? 4 * task.period : task.period);
        task.bytes = 1 + random() % 10;
        const uint64_t transfers = (task.bytes + set.chunk_bytes - 1) / set.chunk_bytes;
        const uint64_t packet = random() % 2;
        task.fixed = transfers * set.dma_fixed + packet;
        task.block_fixed = set.dma_fixed + packet;
        task.block_bytes = task.bytes - (transfers - 1) * set.chunk_bytes;
        task.several = task.bytes > set.chunk_bytes;
    }
    return set;
}

} // namespace brute
