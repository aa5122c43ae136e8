// SPDX-License-Identifier: Apache-2.0
//
// What `bulkhead validate` compares: random reads of a block, one at a time and two at a time, less the same
// reads of one line, which always hit. The next address depends on the data (zeros), so a read waits for the
// one before.
#include <stddef.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/timer.h"

#define LCG_FACTOR 6364136223846793005u
#define LCG_ADDEND 1442695040888963407u

enum { smallest = 4096, chain_bytes = 4096, chain_laps = 200, unrolled = 16 };

// One loop for all blocks: not another one for those whose size the compiler knows.
#define SAME_FOR_ALL __attribute__((noipa))

SAME_FOR_ALL static uint64_t read_single(const volatile uint8_t *block, uint64_t mask, uint64_t reads,
                                         uint64_t at)
{
    for (; reads > 0; reads--) {
        at = at * LCG_FACTOR + LCG_ADDEND;
        at += block[at >> 33 & mask];
    }
    return at;
}

SAME_FOR_ALL static uint64_t read_dual(const volatile uint8_t *block, uint64_t mask, uint64_t reads,
                                       uint64_t a)
{
    uint64_t b = ~a;

    for (; reads > 0; reads--) {
        a = a * LCG_FACTOR + LCG_ADDEND;
        b = b * LCG_FACTOR + LCG_ADDEND;
        uint64_t first = block[a >> 33 & mask];
        uint64_t second = block[b >> 33 & mask];
        a += first + second;
        b += first + second;
    }
    return a ^ b;
}

// Picoseconds of a read, after so many others that caches and TLBs have what they can. The sequence goes on:
// the same addresses once more would be a smaller block.
static uint64_t timed(uint64_t (*read)(const volatile uint8_t *, uint64_t, uint64_t, uint64_t),
                      const struct self_test *test, uint64_t bytes)
{
    uint64_t untimed = test->draws > bytes / line_bytes * 4 ? test->draws : bytes / line_bytes * 4;
    uint64_t at = read(test->memory, bytes - 1, untimed, 1);
    uint64_t begin = timer_now();

    at = read(test->memory, bytes - 1, test->draws, at);
    uint64_t took = timer_now() - begin;
    *(volatile uint64_t *)(void *)test->memory = at & 0; // the reads are needed
    return picoseconds_each(took, test->draws);
}

// A chain of pointers through all lines of a page.
SAME_FOR_ALL static uint64_t time_of_hit(const struct self_test *test)
{
    uint64_t **lines = (uint64_t **)(void *)test->memory;
    enum { words = line_bytes / 8, count = chain_bytes / line_bytes };
    uint64_t *at = (uint64_t *)(void *)lines;

    for (unsigned i = 0; i < count; i++)
        lines[i * words] = (uint64_t *)(void *)&lines[(i + 37) % count * words];
    uint64_t begin = timer_now();
    for (unsigned i = 0; i < chain_laps * count / unrolled; i++) {
#pragma GCC unroll 16
        for (unsigned k = 0; k < unrolled; k++)
            at = *(uint64_t *volatile *)(void *)at;
    }
    uint64_t took = timer_now() - begin;
    for (unsigned i = 0; i < count; i++)
        lines[i * words] = NULL;
    return picoseconds_each(took, chain_laps * count) + ((uint64_t)(uintptr_t)at & 0);
}

static uint64_t beyond(uint64_t time, uint64_t base)
{
    return time > base ? time - base : 0;
}

void measure_latency(const struct self_test *test)
{
    uint64_t single = timed(read_single, test, line_bytes);
    uint64_t dual = timed(read_dual, test, line_bytes);

    report_append("hit: { loop: chain of pointers");
    report_append_tenths("ns", time_of_hit(test));
    report_append(" }  # a load that hits the first-level cache, until a load that needs it\n");
    report_append("latency:  # ns beyond a hit: random reads within a block, one at a time and two\n");
    for (uint64_t bytes = smallest; bytes <= test->largest; bytes *= 2) {
        report_append("  - { size: %lu KiB", bytes / 1024);
        report_append_tenths("single", beyond(timed(read_single, test, bytes), single));
        report_append_tenths("dual", beyond(timed(read_dual, test, bytes), dual));
        report_append(" }\n");
    }
}
