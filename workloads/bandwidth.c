// SPDX-License-Identifier: Apache-2.0
//
// Reads or writes one word of each line of a buffer in address order, again and again: the load whose time
// tells how much of a buffer stays in a cache (as IsolBench does). One iteration is one pass.
#include "workloads/catalog.h"
#include "workloads/checksum.h"

enum { line_words = 64 / sizeof(uint64_t) };

struct bandwidth {
    uint64_t *words;
    uint64_t count;
    bool write;
    uint64_t passes;
    uint64_t sum;
};

static void *prepare(const struct workload_setup *setup)
{
    struct bandwidth *b = arena_take(setup->arena, 1, sizeof(*b));
    uint64_t bytes = workload_value(setup, "size_kib") * 1024;
    uint64_t *words = arena_take(setup->arena, bytes, 1);

    if (setup->arena->exhausted || bytes == 0)
        return NULL;
    *b = (struct bandwidth){.words = words, .count = bytes / sizeof(uint64_t)};
    b->write = workload_value(setup, "write") != 0;
    for (uint64_t i = 0; i < b->count; i++)
        words[i] = random_mix(setup->seed + i);
    return b;
}

static void iterate(void *state)
{
    struct bandwidth *b = state;
    volatile uint64_t *words = b->words;
    uint64_t count = b->count;
    uint64_t sum = 0;

    b->passes++;
    if (b->write) {
        for (uint64_t i = 0; i < count; i += line_words)
            words[i] = b->passes;
        return;
    }
    for (uint64_t i = 0; i < count; i += line_words)
        sum += words[i];
    b->sum += sum;
}

static uint64_t checksum(const void *state)
{
    const struct bandwidth *b = state;
    uint64_t sum = checksum_add(0, b->sum);

    for (uint64_t i = 0; i < b->count; i += line_words)
        sum = checksum_add(sum, b->words[i]);
    return sum;
}

static uint32_t correct(const void *state)
{
    const struct bandwidth *b = state;
    uint64_t once = 0;

    for (uint64_t i = 0; i < b->count; i += line_words)
        once += b->words[i];
    return (b->write ? once == b->passes * (b->count / line_words) : b->sum == once * b->passes) ? 1000 : 0;
}

static const struct workload_parameter parameters[] = {
    {"size_kib", 1024, 64, "size of the buffer"},
    {"write", 0, 0, "1: write instead of read"},
    {0},
};

const struct workload workload_bandwidth = {
    "bandwidth", "reads or writes a buffer line by line", parameters, 100, prepare, iterate, checksum,
    correct};
