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

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/timer.h"

enum { least_core_bytes = 1 << 16, copy_distance = 1 << 20 };

enum { quiet_us = 20000 }; // for the output of the hypervisor's start

void program_interrupt(uint32_t intid)
{
    paths_interrupt(intid);
}

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static bool init(struct self_test *test)
{
    struct memory_area arena = memory_arena();
    uint64_t skipped = -arena.start % MEMORY_BLOCK_BYTES;

    test->memory = (uint8_t *)(uintptr_t)(arena.start + skipped);
    test->bytes = arena.bytes > skipped ? arena.bytes - skipped : 0;
    test->largest = param("largest_kib", 8192) * 1024;
    test->core_bytes = param("core_kib", 4096) * 1024;
    test->row_stride = param("row_stride_kib", 0) * 1024;
    test->window_us = param("window_us", 1000);
    test->draws = param("draws", 20000);
    test->cpus = board()->cpu_count;
    if (!is_power_of_two(test->largest) || !is_power_of_two(test->core_bytes) ||
        test->core_bytes < least_core_bytes || test->window_us == 0 || test->draws == 0) {
        console_write("self-test: a parameter is out of range\n");
        return false;
    }
    if (!gic_init()) {
        console_write("self-test: no usable interrupt controller\n");
        return false;
    }
    gic_enable_private(team_sgi);
    gic_enable_private(board()->virtual_timer_intid);
    if (test->largest > test->bytes || test->core_bytes * test->cpus > test->bytes ||
        2 * test->core_bytes + copy_distance > test->bytes ||
        (test->row_stride != 0 && test->row_stride * 8 * test->cpus > test->bytes)) {
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
    console_write("bulkhead: ready\n");
    timer_sleep_until(timer_now() + ticks_of_us(quiet_us));
    report_append("self_test: 1\n");
    report_append("timers:\n  frequency: %lu Hz  # CNTFRQ_EL0, as firmware has set it\n", timer_frequency());
    report_append("cores:\n  count: %u\n", test.cpus);
    measure_frequency();
    measure_latency(&test);
    measure_rates(&test);
    measure_events(&test);
    measure_one_core(&test);
    test.cpus = team_start();
    measure_several_cores(&test);
    measure_delays(&test);
    measure_paths(&test);
    if (report_print())
        console_write("report {\"measured\": 1}\n");
}
