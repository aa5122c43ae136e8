// SPDX-License-Identifier: Apache-2.0
//
// What the cores have measured of the parts of the path of packets, read by a manager's calls. In ticks.
#ifndef BULKHEAD_GUESTS_SELF_TEST_PATH_PARTS_H
#define BULKHEAD_GUESTS_SELF_TEST_PATH_PARTS_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

enum { PATH_PART_BUCKETS = 64 };

struct path_part {
    uint64_t count, min, max, sum;
    uint64_t histogram[PATH_PART_BUCKETS]; // four buckets for each power of two (core/path_costs.c)
};

struct path_parts {
    struct path_part parts[BH_PATH_PART_COUNT]; // by bh_path_part
};

extern const char *const path_part_names[BH_PATH_PART_COUNT];

// Reads the parts so far, of all cores together; `notify` of the board's core `notified` alone. Returns false
// if nothing is measured, or if the caller is no manager.
bool path_parts_read(uint64_t notified, struct path_parts *parts);

// What was added to a part since an earlier reading; its `min` and `max` are those of the whole time.
struct path_part path_part_since(const struct path_part *now, const struct path_part *earlier);

// The middle of the bucket that has the median.
uint64_t path_part_median(const struct path_part *part);

#endif
