// SPDX-License-Identifier: Apache-2.0
//
// Writes every word of a buffer in address order, without end: as much write traffic as one core can make,
// with stores as wide as those of memset. One iteration is one pass.
#include "workloads/catalog.h"
#include "workloads/checksum.h"

enum { WORDS_AT_ONCE = 16 }; // two lines of 64 bytes; sizes are whole KiB

typedef uint64_t wide __attribute__((vector_size(16)));

struct membomb {
    uint64_t *words;
    uint64_t count;
    uint64_t passes;
};

static void *prepare(const struct workload_setup *setup)
{
    struct membomb *m = arena_take(setup->arena, 1, sizeof(*m));
    uint64_t count = workload_value(setup, "size_kib") * 1024 / sizeof(uint64_t);
    uint64_t *words = arena_take(setup->arena, count, sizeof(uint64_t));

    if (setup->arena->exhausted || count == 0)
        return NULL;
    *m = (struct membomb){.words = words, .count = count};
    return m;
}

static void iterate(void *state)
{
    struct membomb *m = state;
    uint64_t *words = m->words;
    uint64_t count = m->count;
    uint64_t value = ++m->passes;
    wide both = {value, value};

    for (uint64_t i = 0; i < count;
         i += WORDS_AT_ONCE) { // a loop over single words would be limited by its own latency
        wide *to = (wide *)(void *)(words + i);
        to[0] = both;
        to[1] = both;
        to[2] = both;
        to[3] = both;
        to[4] = both;
        to[5] = both;
        to[6] = both;
        to[7] = both;
    }
}

static uint64_t checksum(const void *state)
{
    const struct membomb *m = state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < m->count; i++)
        sum += m->words[i] * (i + 1);
    return checksum_add(0, sum);
}

static uint32_t correct(const void *state)
{
    const struct membomb *m = state;
    uint64_t right = 0;

    for (uint64_t i = 0; i < m->count; i++)
        right += m->words[i] == m->passes;
    return (uint32_t)(right * 1000 / m->count);
}

static const struct workload_parameter parameters[] = {
    {"size_kib", 16384, 64, "size of the buffer"},
    {0},
};

const struct workload workload_membomb = {
    "membomb", "writes sequentially, without end", parameters, 0, prepare, iterate, checksum, correct};
