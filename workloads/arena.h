// SPDX-License-Identifier: Apache-2.0
//
// Memory of a workload: taken from the front of what the host gives, never given back. A request that does
// not fit makes the arena exhausted for good, so that a workload takes all it needs and asks once whether it
// got it.
#ifndef BULKHEAD_WORKLOADS_ARENA_H
#define BULKHEAD_WORKLOADS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARENA_ALIGNMENT = 64 }; // a cache line: what one buffer does never touches another

struct arena {
    unsigned char *start;
    uint64_t bytes;
    uint64_t used;
    bool exhausted;
};

// `start` has the arena's alignment.
struct arena arena_of(void *start, uint64_t bytes);

// Aligned, contents undefined; NULL if it does not fit.
void *arena_take(struct arena *arena, uint64_t count, uint64_t element_bytes);

#endif
