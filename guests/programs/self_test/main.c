// SPDX-License-Identifier: Apache-2.0
//
// Measures on a board what other commands measure on the simulated machine, and prints the figures as YAML
// between two marks, for `bulkhead self-test`. The figures mean something only if no other domain runs.
// Parameters: `largest_kib` [8192]: largest working set, `core_kib` [4096]: memory that each core reads or
// writes, several times its share of the last-level cache (both powers of two), `row_stride_kib` [0]:
// distance of two rows of one DRAM bank; without it there are no same-bank patterns, `window_us` [1000]: time
// in which a rate is measured, after as long a time without measurement, `draws` [20000]: random reads of a
// block.
#include "guests/programs/self_test/self_test.h"

#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/timer.h"

enum { copy_distance = 1 << 20 };

void program_interrupt(uint32_t intid)
{
    paths_interrupt(intid);
}

static bool init(struct self_test *test)
{
    if (!self_test_begin(test))
        return false;
    test->largest = param("largest_kib", 8192) * 1024;
    test->draws = param("draws", 20000);
    if (test->largest == 0 || (test->largest & (test->largest - 1)) != 0 || test->draws == 0) {
        console_write("self-test: a parameter is out of range\n");
        return false;
    }
    if (test->largest > test->bytes || 2 * test->core_bytes + copy_distance > test->bytes) {
        console_write("self-test: too little memory\n");
        return false;
    }
    for (uint64_t at = 0; at < test->largest; at += 8)
        *(volatile uint64_t *)(void *)(test->memory + at) = 0;
    return true;
}

void program_main(void)
{
    struct self_test test;

    if (!init(&test))
        return;
    self_test_ready();
    report_append("self_test: 1\n");
    report_append("timers:\n  frequency: %lu Hz  # CNTFRQ_EL0, as firmware has set it\n", timer_frequency());
    report_append("cores:\n  count: %u\n", test.cpus);
    measure_frequency();
    measure_latency(&test);
    measure_rates(&test);
    measure_block_reads(&test);
    measure_events(&test);
    measure_one_core(&test);
    test.cpus = team_start();
    measure_several_cores(&test);
    measure_delays(&test);
    measure_paths(&test);
    if (report_print())
        console_write("report {\"measured\": 1}\n");
}
