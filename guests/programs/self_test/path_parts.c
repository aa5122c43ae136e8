// SPDX-License-Identifier: Apache-2.0
//
// A call for each core, part and bucket.
#include "guests/programs/self_test/path_parts.h"

#include "guests/runtime/manager.h"

const char *const path_part_names[BH_PATH_PART_COUNT] = {
    [BH_PATH_PART_TRANSPORT] = "transport",
    [BH_PATH_PART_PARSE] = "parse",
    [BH_PATH_PART_FIND_EARLIEST] = "find_earliest",
    [BH_PATH_PART_PROGRAM_DMA] = "program_dma",
    [BH_PATH_PART_ENGINE] = "engine",
    [BH_PATH_PART_FINALIZE] = "finalize",
    [BH_PATH_PART_NOTIFY] = "notify",
    [BH_PATH_PART_WAKE] = "wake",
    [BH_PATH_PART_INTERRUPT] = "interrupt",
};

// Returns false if there is no such core.
static bool add(uint64_t core, uint64_t number, struct path_part *part)
{
    struct manager_path_cost cost = manager_path_cost(core, number, 0);

    if (cost.result != 0)
        return false;
    if (cost.count == 0)
        return true;
    part->min = part->count == 0 || cost.min < part->min ? cost.min : part->min;
    part->max = cost.max > part->max ? cost.max : part->max;
    part->count += cost.count;
    part->sum += cost.sum;
    for (uint64_t bucket = 0; bucket < PATH_PART_BUCKETS; bucket++)
        part->histogram[bucket] += manager_path_cost(core, number, bucket).in_bucket;
    return true;
}

bool path_parts_read(uint64_t notified, struct path_parts *parts)
{
    bool measured = false;

    *parts = (struct path_parts){0};
    for (unsigned part = 0; part < BH_PATH_PART_COUNT; part++) {
        if (part == BH_PATH_PART_NOTIFY) {
            measured = add(notified, part, &parts->parts[part]) || measured;
            continue;
        }
        for (uint64_t core = 0; add(core, part, &parts->parts[part]); core++)
            measured = true;
    }
    return measured;
}

struct path_part path_part_since(const struct path_part *now, const struct path_part *earlier)
{
    struct path_part since = *now;

    since.count -= earlier->count;
    since.sum -= earlier->sum;
    for (unsigned bucket = 0; bucket < PATH_PART_BUCKETS; bucket++)
        since.histogram[bucket] -= earlier->histogram[bucket];
    return since;
}

// First value of a bucket.
static uint64_t first_of(unsigned bucket)
{
    return bucket < 4 ? bucket : (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

uint64_t path_part_median(const struct path_part *part)
{
    uint64_t left = part->count / 2;

    for (unsigned bucket = 0; bucket < PATH_PART_BUCKETS; bucket++) {
        if (left < part->histogram[bucket])
            return (first_of(bucket) + first_of(bucket + 1) - 1) / 2;
        left -= part->histogram[bucket];
    }
    return part->max;
}
