// SPDX-License-Identifier: Apache-2.0
//
// Minimum, mean, maximum and a power-of-two histogram of durations. Used by measuring programs; the names are
// those in their reports.
#ifndef BULKHEAD_GUESTS_STATS_H
#define BULKHEAD_GUESTS_STATS_H

#include <stdint.h>

#include "guests/runtime/format.h"

enum { STATS_BUCKETS = 40 }; // the last bucket counts all from 2^39 ns (9 minutes) on

struct stats {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t histogram[STATS_BUCKETS]; // [i]: 2^i <= ns < 2^(i+1); [0] also counts 0
};

void stats_add(struct stats *stats, uint64_t ns);

// Appends `{"min": …, "mean": …, "max": …}`; zeros if nothing was added.
void stats_append_summary(const struct stats *stats, struct text *text);

// Appends `[…]` up to the last bucket that is not empty.
void stats_append_histogram(const struct stats *stats, struct text *text);

#endif
