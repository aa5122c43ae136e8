// SPDX-License-Identifier: Apache-2.0
//
// Reads, changes and writes one word at every `stride` bytes: shows how a cache handles strides. Each
// iteration visits the whole buffer, starting one word further than the previous one.
#include "workloads/catalog.h"
#include "workloads/checksum.h"

struct stride {
    uint64_t *words;
    uint64_t count;
    uint64_t stride_words;
    uint64_t offset;
    uint64_t visits;
};

static void *prepare(const struct workload_setup *setup)
{
    struct stride *s = arena_take(setup->arena, 1, sizeof(*s));
    uint64_t count = workload_value(setup, "size_kib") * 1024 / sizeof(uint64_t);
    uint64_t stride = workload_value(setup, "stride_bytes") / sizeof(uint64_t);
    uint64_t *words = arena_take(setup->arena, count, sizeof(uint64_t));

    if (setup->arena->exhausted || count == 0 || stride == 0 || stride > count)
        return NULL;
    *s = (struct stride){.words = words, .count = count, .stride_words = stride};
    for (uint64_t i = 0; i < count; i++)
        words[i] = 0;
    return s;
}

static void iterate(void *state)
{
    struct stride *s = state;
    volatile uint64_t *words = s->words;
    uint64_t stride = s->stride_words;

    for (uint64_t i = s->offset; i < s->count; i += stride)
        words[i] = words[i] + 1;
    s->visits += (s->count - s->offset + stride - 1) / stride;
    s->offset = (s->offset + 1) % stride;
}

static uint64_t checksum(const void *state)
{
    const struct stride *s = state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < s->count; i++)
        sum = checksum_add(sum, s->words[i]);
    return sum;
}

static uint32_t correct(const void *state)
{
    const struct stride *s = state;
    uint64_t visits = 0;

    for (uint64_t i = 0; i < s->count; i++)
        visits += s->words[i];
    return visits == s->visits ? 1000 : 0;
}

static const struct workload_parameter parameters[] = {
    {"size_kib", 8192, 64, "size of the buffer"},
    {"stride_bytes", 256, 256, "from one word to the next, a multiple of 8"},
    {0},
};

const struct workload workload_stride = {
    "stride", "changes one word every so many bytes", parameters, 100, prepare, iterate, checksum, correct};
