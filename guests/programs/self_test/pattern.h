// SPDX-License-Identifier: Apache-2.0
//
// Patterns of memory accesses, each of which touches one line of 64 bytes at a time: the load that self_test
// puts on the memory. The patterns are those of `bulkhead limits`, and writes of whole lines.
#ifndef BULKHEAD_GUESTS_SELF_TEST_PATTERN_H
#define BULKHEAD_GUESTS_SELF_TEST_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

enum { line_bytes = 64 };

enum pattern_access { access_read, access_write, access_update, access_whole_line };
enum pattern_order { order_sequential, order_shuffled, order_same_bank, order_few };

struct pattern {
    const char *name;
    enum pattern_access access;
    enum pattern_order order;
    uint32_t lines_moved; // between cache and memory for each line that is accessed
};

enum pattern_id {
    sequential_reads,
    sequential_writes,
    whole_lines,
    random_reads,
    random_writes,
    same_bank_reads,
    same_bank_writes,
    same_bank_updates,
    pattern_count,
};

extern const struct pattern patterns[pattern_count];

// Sequential reads, of a few lines in each step: for cores whose budget is a few lines.
extern const struct pattern few_reads;

// The part of memory that one core works on, and how far it has come.
struct place {
    uint8_t *base;
    uint64_t lines;      // a power of two; not of the order same_bank
    uint64_t row_stride; // of the order same_bank, as are the next two
    uint64_t rows;
    uint64_t columns;
    uint64_t at;
};

// What a core did in the measured time.
struct moved {
    uint64_t lines; // accessed
    uint64_t begin; // counter value at the beginning
    uint64_t ticks;
    uint64_t events; // of the counter, if one counts
};

// Accesses the next lines; returns their number.
uint64_t pattern_step(const struct pattern *pattern, struct place *place);

// Repeats the pattern until the counter has reached `until`, and measures from `from` on. `counted`: reads
// the event counter.
struct moved pattern_run(const struct pattern *pattern, struct place *place, uint64_t from, uint64_t until,
                         bool counted);

#endif
