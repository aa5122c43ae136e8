// SPDX-License-Identifier: Apache-2.0
//
// Follows a chain of pointers through all lines of a buffer in random order: each load waits for the one
// before, so its time is the latency of where the buffer lies. One iteration is one lap.
#include "workloads/catalog.h"
#include "workloads/checksum.h"

enum { line_words = 64 / sizeof(uint64_t) };

struct latency {
    uint64_t *words; // the first word of each line: index of the next line's
    uint64_t lines;
    uint64_t at;
    uint64_t steps;
};

// One cycle through all lines (Sattolo).
static void make_chain(struct latency *l, uint64_t *order, uint64_t seed)
{
    struct random random = {.state = seed};

    for (uint64_t i = 0; i < l->lines; i++)
        order[i] = i;
    for (uint64_t i = l->lines - 1; i > 0; i--) {
        uint64_t other = random_below(&random, i);
        uint64_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint64_t i = 0; i < l->lines; i++)
        l->words[order[i] * line_words] = order[(i + 1) % l->lines] * line_words;
}

static void *prepare(const struct workload_setup *setup)
{
    struct latency *l = arena_take(setup->arena, 1, sizeof(*l));
    uint64_t lines = workload_value(setup, "size_kib") * 1024 / 64;
    uint64_t *words = arena_take(setup->arena, lines, 64);
    uint64_t *order = arena_take(setup->arena, lines, sizeof(*order));

    if (setup->arena->exhausted || lines < 2)
        return NULL;
    *l = (struct latency){.words = words, .lines = lines};
    make_chain(l, order, setup->seed);
    return l;
}

static void iterate(void *state)
{
    struct latency *l = state;
    const volatile uint64_t *words = l->words;
    uint64_t at = l->at;

    for (uint64_t i = l->lines; i > 0; i--)
        at = words[at];
    l->at = at;
    l->steps += l->lines;
}

static uint64_t checksum(const void *state)
{
    const struct latency *l = state;

    uint64_t sum = checksum_add(checksum_add(0, l->at), l->steps);

    for (uint64_t i = 0; i < l->lines; i++)
        sum = checksum_add(sum, l->words[i * line_words]);
    return sum;
}

// Whether the chain is one cycle through all lines.
static uint32_t correct(const void *state)
{
    const struct latency *l = state;
    uint64_t at = 0;
    uint64_t length = 0;

    do {
        at = l->words[at];
        length++;
    } while (at != 0 && length <= l->lines);
    return length == l->lines ? 1000 : 0;
}

static const struct workload_parameter parameters[] = {
    {"size_kib", 4096, 64, "size of the buffer"},
    {0},
};

const struct workload workload_latency = {
    "latency", "follows a chain of pointers in random order", parameters, 10, prepare, iterate, checksum,
    correct};
