// SPDX-License-Identifier: Apache-2.0
//
// Memory of a workload: allocated from the front of the host's memory and never freed. A request that does
// not fit marks the arena as exhausted for good, so that a workload can allocate everything and check once at
// the end.
#ifndef BULKHEAD_WORKLOADS_ARENA_H
#define BULKHEAD_WORKLOADS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARENA_ALIGNMENT = 64 }; // a cache line, so that buffers never share one

struct arena {
    unsigned char *start;
    uint64_t bytes;
    uint64_t used;
    bool exhausted;
};

// `start` must have the arena's alignment.
struct arena arena_of(void *start, uint64_t bytes);

// Aligned, contents undefined; NULL if it does not fit.
void *arena_take(struct arena *arena, uint64_t count, uint64_t element_bytes);

#endif
