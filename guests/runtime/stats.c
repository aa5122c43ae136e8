// SPDX-License-Identifier: Apache-2.0
//
// Integer statistics; a zeroed `struct stats` is an empty one.
#include "guests/runtime/stats.h"

static unsigned bucket_of(uint64_t ns)
{
    unsigned bucket = 0;

    while (ns > 1 && bucket < STATS_BUCKETS - 1) {
        ns >>= 1;
        bucket++;
    }
    return bucket;
}

void stats_add(struct stats *stats, uint64_t ns)
{
    if (stats->count == 0 || ns < stats->min_ns)
        stats->min_ns = ns;
    if (ns > stats->max_ns)
        stats->max_ns = ns;
    stats->count++;
    stats->sum_ns += ns;
    stats->histogram[bucket_of(ns)]++;
}

void stats_append_summary(const struct stats *stats, struct text *text)
{
    text_append(text, "{\"min\": %lu, \"mean\": %lu, \"max\": %lu}", (unsigned long)stats->min_ns,
                (unsigned long)(stats->count != 0 ? stats->sum_ns / stats->count : 0),
                (unsigned long)stats->max_ns);
}

void stats_append_histogram(const struct stats *stats, struct text *text)
{
    unsigned used = STATS_BUCKETS;

    while (used > 0 && stats->histogram[used - 1] == 0)
        used--;
    text_append(text, "[");
    for (unsigned i = 0; i < used; i++)
        text_append(text, i == 0 ? "%lu" : ", %lu", (unsigned long)stats->histogram[i]);
    text_append(text, "]");
}
