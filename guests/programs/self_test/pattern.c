// SPDX-License-Identifier: Apache-2.0
//
// Loops of a few instructions for each line, so that as many misses are in flight as the core can have.
// Random orders compute several addresses before the accesses for the same reason.
#include "guests/programs/self_test/pattern.h"

#include "guests/programs/self_test/monitors.h"
#include "guests/runtime/timer.h"

enum { step_lines = 256, few_lines = 32, batch = 4, mix_shift = 8 };

// Each pattern becomes a loop of its own, without a branch between its accesses.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define MULTIPLIER 0x9E3779B5u // 1 modulo 4: with an odd increment all values occur before one occurs again

const struct pattern patterns[pattern_count] = {
    [sequential_reads] = {"sequential reads", access_read, order_sequential, 1},
    [sequential_writes] = {"sequential writes", access_write, order_sequential, 2},
    [whole_lines] = {"whole-line writes", access_whole_line, order_sequential, 1},
    [random_reads] = {"random reads", access_read, order_shuffled, 1},
    [random_writes] = {"random writes", access_write, order_shuffled, 2},
    [same_bank_reads] = {"same-bank reads", access_read, order_same_bank, 1},
    [same_bank_writes] = {"same-bank writes", access_write, order_same_bank, 2},
    [same_bank_updates] = {"same-bank updates", access_update, order_same_bank, 2},
};

const struct pattern few_reads = {"few reads", access_read, order_few, 1};

ALWAYS_INLINE volatile uint64_t *word_at(uint8_t *at)
{
    return (volatile uint64_t *)(void *)at;
}

ALWAYS_INLINE void access_line(enum pattern_access access, uint8_t *at)
{
    switch (access) {
    case access_read:
        (void)*word_at(at);
        break;
    case access_write:
        *word_at(at) = 0;
        break;
    case access_update:
        *word_at(at) = *word_at(at) & 0;
        break;
    case access_whole_line:
#pragma GCC unroll 8
        for (unsigned i = 0; i < line_bytes / 8; i++)
            word_at(at)[i] = 0;
        break;
    }
}

// `count` is a multiple of `batch`, here and below.
ALWAYS_INLINE void walk(enum pattern_access access, uint8_t *at, uint64_t stride, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += batch) {
        uint8_t *line[batch];

#pragma GCC unroll 4
        for (unsigned k = 0; k < batch; k++)
            line[k] = at + k * stride;
        at += batch * stride;
#pragma GCC unroll 4
        for (unsigned k = 0; k < batch; k++)
            access_line(access, line[k]);
    }
}

// A place's lines in an order without pattern, each once before one occurs again: every step of the
// calculation maps the numbers of lines to each other one to one.
ALWAYS_INLINE void walk_shuffled(enum pattern_access access, struct place *place, uint64_t count)
{
    uint64_t mask = place->lines - 1;
    uint64_t at = place->at;

    for (uint64_t i = 0; i < count; i += batch) {
        uint8_t *line[batch];

#pragma GCC unroll 4
        for (unsigned k = 0; k < batch; k++) {
            at = (at * MULTIPLIER + 1) & mask;
            uint64_t mixed = ((at ^ at >> mix_shift) * MULTIPLIER) & mask;
            line[k] = place->base + (mixed ^ mixed >> mix_shift) * line_bytes;
        }
#pragma GCC unroll 4
        for (unsigned k = 0; k < batch; k++)
            access_line(access, line[k]);
    }
    place->at = at;
}

// `access` is a constant in each call, so that each becomes a loop of its own.
ALWAYS_INLINE uint64_t step(enum pattern_access access, enum pattern_order order, struct place *place)
{
    uint8_t *from = place->base;

    switch (order) {
    case order_shuffled:
        walk_shuffled(access, place, step_lines);
        return step_lines;
    case order_same_bank:
        walk(access, from + place->at * line_bytes, place->row_stride, place->rows);
        place->at = place->at + 1 < place->columns ? place->at + 1 : 0;
        return place->rows;
    case order_few:
        walk(access, from + place->at * line_bytes, line_bytes, few_lines);
        place->at = (place->at + few_lines) & (place->lines - 1);
        return few_lines;
    case order_sequential:
    default:
        walk(access, from + place->at * line_bytes, line_bytes, step_lines);
        place->at = (place->at + step_lines) & (place->lines - 1);
        return step_lines;
    }
}

uint64_t pattern_step(const struct pattern *pattern, struct place *place)
{
    switch (pattern->access) {
    case access_read:
        return step(access_read, pattern->order, place);
    case access_write:
        return step(access_write, pattern->order, place);
    case access_update:
        return step(access_update, pattern->order, place);
    case access_whole_line:
    default:
        return step(access_whole_line, pattern->order, place);
    }
}

struct moved pattern_run(const struct pattern *pattern, struct place *place, uint64_t from, uint64_t until,
                         bool counted)
{
    struct moved moved = {0};
    uint64_t begin = 0;
    uint64_t events = 0;

    for (;;) {
        uint64_t lines = pattern_step(pattern, place);
        uint64_t now = timer_now();

        if (begin == 0) {
            if (now < from)
                continue;
            events = counted ? monitors_count() : 0;
            begin = timer_now();
            continue;
        }
        moved.lines += lines;
        if (now < until)
            continue;
        moved.begin = begin;
        moved.ticks = now - begin;
        moved.events = counted ? monitors_count() - events : 0;
        return moved;
    }
}
