// SPDX-License-Identifier: Apache-2.0
//
// Measures on a board how busy the memory is under each pattern, by the memory controller's own counters: a
// regulator measures it in each interval, and its samples tell. Prints the figures as YAML between two marks,
// for `bulkhead self-test`. The program is a manager on all cores and the only domain, regulated by
// utilization with budgets that are never spent. Parameters: `core_kib`, `row_stride_kib` and `window_us` as
// of self_test; `window_us` is several intervals of the regulator.
#include <stddef.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/console.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { whole = 65536, thousand = 1000 };

void program_interrupt(uint32_t intid)
{
    (void)intid;
    timer_stop();
}

// Mean of the intervals that lie within the measured time, in thousandths of a percent. Returns false if
// there are none.
static bool utilization_in(const struct moved *moved, uint64_t interval, uint64_t *percent)
{
    struct manager_sample next = manager_sample(0, 0);
    uint64_t sum = 0, count = 0;

    for (; next.result == 0 && next.sample.time <= moved->begin + moved->ticks;
         next = manager_sample(0, next.number)) {
        if (next.sample.time < moved->begin + interval)
            continue;
        sum += next.sample.utilization;
        count++;
    }
    if (count == 0)
        return false;
    *percent = sum * 100 * thousand / whole / count;
    return true;
}

static bool measure(const struct self_test *test, const struct pattern *pattern, uint32_t cores,
                    uint64_t interval)
{
    struct team_rate others;
    struct moved own = team_beside(test, pattern, pattern, cores - 1, &others);
    uint64_t sum = kilobytes_per_s(own.lines * line_bytes, own.ticks) + others.sum;
    uint64_t percent;

    if (!utilization_in(&own, interval, &percent))
        return false;
    report_append("  - { pattern: %s, cores: %u", pattern->name, cores);
    report_append_tenths("mb_s", sum * pattern->lines_moved);
    report_append_tenths("busy_percent", percent);
    report_append(" }\n");
    return true;
}

static bool measure_all(const struct self_test *test, uint32_t first, uint32_t last, uint64_t interval)
{
    for (unsigned p = 0; p < pattern_count; p++)
        for (uint32_t cores = first; pattern_is_possible(test, &patterns[p]) && cores <= last; cores++)
            if (!measure(test, &patterns[p], cores, interval))
                return false;
    return true;
}

void program_main(void)
{
    struct self_test test;
    struct manager_regulation regulation = manager_regulation();

    if (!self_test_begin(&test))
        return;
    if (regulation.result != 0) {
        console_write("self-test: this is no manager, or there is no regulator\n");
        return;
    }
    self_test_ready();
    report_append("self_test_utilization: 1\ncores: { count: %u }\n", test.cpus);
    report_append("utilization:  # of the memory, and MB/s between caches and memory, by busy cores\n");
    uint64_t interval = ns_to_ticks(regulation.parameters.interval_ns, timer_frequency());
    bool measured = measure_all(&test, 1, 1, interval); // before there are others

    test.cpus = team_start();
    if (!measured || !measure_all(&test, 2, test.cpus, interval)) {
        console_write("self-test: `window_us` is shorter than two intervals of the regulator\n");
        return;
    }
    if (report_print())
        console_write("report {\"measured\": 1}\n");
}
