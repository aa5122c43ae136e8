// SPDX-License-Identifier: Apache-2.0
//
// Products are checked: a parameter may be anything.
#include "workloads/arena.h"

struct arena arena_of(void *start, uint64_t bytes)
{
    return (struct arena){.start = start, .bytes = bytes};
}

void *arena_take(struct arena *arena, uint64_t count, uint64_t element_bytes)
{
    uint64_t bytes;
    bool fits = !__builtin_mul_overflow(count, element_bytes, &bytes) && bytes <= arena->bytes - arena->used;

    if (!fits) {
        arena->exhausted = true;
        return NULL;
    }
    void *taken = arena->start + arena->used;
    uint64_t left = arena->bytes - arena->used;
    uint64_t padded = (bytes + ARENA_ALIGNMENT - 1) & ~(uint64_t)(ARENA_ALIGNMENT - 1);
    arena->used += padded < left ? padded : left;
    return taken;
}
