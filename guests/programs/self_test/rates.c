// SPDX-License-Identifier: Apache-2.0
//
// Rates of one core: of bytes that it fills, reads and copies (as `bulkhead validate` compares them), and of
// lines that it reads in order within blocks of all sizes, which shows each level of caches by itself.
#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/timer.h"

enum { copied_words = 2, smallest_block = 16384 };

static void fill(uint64_t *to, const uint64_t *from, uint64_t words)
{
    (void)from;
    for (uint64_t i = 0; i < words; i += 8)
#pragma GCC unroll 8
        for (unsigned k = 0; k < 8; k++)
            ((volatile uint64_t *)to)[i + k] = 0;
}

static void read_all(uint64_t *to, const uint64_t *from, uint64_t words)
{
    (void)to;
    for (uint64_t i = 0; i < words; i += 8)
#pragma GCC unroll 8
        for (unsigned k = 0; k < 8; k++)
            (void)((const volatile uint64_t *)from)[i + k];
}

static void copy(uint64_t *to, const uint64_t *from, uint64_t words)
{
    for (uint64_t i = 0; i < words; i += copied_words) {
        uint64_t first = ((const volatile uint64_t *)from)[i];
        uint64_t second = ((const volatile uint64_t *)from)[i + 1];
        ((volatile uint64_t *)to)[i] = first;
        ((volatile uint64_t *)to)[i + 1] = second;
    }
}

static void rate(const struct self_test *test, const char *kind, const char *loop,
                 void (*move)(uint64_t *, const uint64_t *, uint64_t))
{
    uint64_t words = test->core_bytes / 8;
    uint64_t *from = (uint64_t *)(void *)test->memory;
    // Not a multiple of the caches' size away, so that source and destination do not alias.
    uint64_t *to = from + words + 0xAA000 / 8;

    move(to, from, words);
    uint64_t begin = timer_now();
    move(to, from, words);
    report_append("  - { kind: %s, loop: %s", kind, loop);
    report_append_tenths("mb_s", kilobytes_per_s(test->core_bytes, timer_now() - begin));
    report_append(" }\n");
}

void measure_rates(const struct self_test *test)
{
    report_append("rates:  # MB/s of one core, of the bytes that it fills, reads or copies (%lu KiB)\n",
                  test->core_bytes / 1024);
    rate(test, "fill", "stores of 8 bytes", fill);
    rate(test, "read", "loads of 8 bytes", read_all);
    rate(test, "bcopy", "pairs of 8 bytes", copy);
}

void measure_block_reads(const struct self_test *test)
{
    report_append("block_reads:  # MB/s of one core that reads a word of each line of a block, in order\n");
    for (uint64_t bytes = smallest_block; bytes <= test->largest; bytes *= 2) {
        struct place place = {.base = test->memory, .lines = bytes / line_bytes};
        uint64_t from = timer_now() + ticks_of_us(test->window_us);
        struct moved moved = pattern_run(&patterns[sequential_reads], &place, from,
                                         from + ticks_of_us(test->window_us), false);

        report_append("  - { size: %lu KiB", bytes / 1024);
        report_append_tenths("mb_s", kilobytes_per_s(moved.lines * line_bytes, moved.ticks));
        report_append(" }\n");
    }
}
