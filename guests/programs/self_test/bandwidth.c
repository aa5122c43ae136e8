// SPDX-License-Identifier: Apache-2.0
//
// What `bulkhead limits` measures: the traffic between caches and memory for each pattern, by the number of
// busy cores; and how much longer the first core waits for a line that it reads in order while all other
// cores write. Traffic is the lines that cores access, each as often as its pattern moves it.
#include <stddef.h>

#include "guests/programs/self_test/self_test.h"

static const enum pattern_id writers[] = {whole_lines, random_writes, same_bank_writes};

static void measure_rate(const struct self_test *test, const struct pattern *pattern, uint32_t cores)
{
    struct team_rate others;
    struct moved own = team_beside(test, pattern, pattern, cores - 1, &others);
    uint64_t sum = kilobytes_per_s(own.lines * line_bytes, own.ticks) + others.sum;

    report_append("  - { pattern: %s, cores: %u", pattern->name, cores);
    report_append_tenths("mb_s", sum * pattern->lines_moved);
    report_append(" }\n");
}

void measure_one_core(const struct self_test *test)
{
    report_append("patterns:  # MB/s between caches and memory, of all busy cores together\n");
    for (unsigned p = 0; p < pattern_count; p++)
        if (pattern_is_possible(test, &patterns[p]))
            measure_rate(test, &patterns[p], 1);
}

void measure_several_cores(const struct self_test *test)
{
    for (unsigned p = 0; p < pattern_count; p++)
        for (uint32_t cores = 2; pattern_is_possible(test, &patterns[p]) && cores <= test->cpus; cores++)
            measure_rate(test, &patterns[p], cores);
}

void measure_delays(const struct self_test *test)
{
    struct team_rate none;
    struct moved alone = team_beside(test, &patterns[sequential_reads], NULL, 0, &none);

    if (test->cpus == 1)
        return;
    report_append("delays:  # ns for a line that the first core reads, alone and beside cores that write\n");
    for (unsigned w = 0; w < sizeof(writers) / sizeof(writers[0]); w++) {
        const struct pattern *pattern = &patterns[writers[w]];
        struct team_rate others;

        if (!pattern_is_possible(test, pattern))
            continue;
        struct moved read = team_beside(test, &patterns[sequential_reads], pattern, test->cpus - 1, &others);

        report_append("  - { pattern: %s, writers: %u", pattern->name, test->cpus - 1);
        report_append_tenths("alone_ns", picoseconds_each(alone.ticks, alone.lines));
        report_append_tenths("beside_ns", picoseconds_each(read.ticks, read.lines));
        report_append_tenths("least_mb_s", others.least * pattern->lines_moved);
        report_append(" }\n");
    }
}
