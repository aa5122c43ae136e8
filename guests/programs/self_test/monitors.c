// SPDX-License-Identifier: Apache-2.0
//
// What the performance monitors count: cycles, which give the frequency of the core, and events of memory
// traffic, of which each pattern causes a known number.
#include "guests/programs/self_test/monitors.h"

#include <arch/sysreg.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/board.h"
#include "guests/runtime/timer.h"

enum {
    control_enable = 1,
    event_cycles = 0x11,
    turns = 1000000,
};

static const uint32_t events[] = {
    0x17, // L2D_CACHE_REFILL
    0x18, // L2D_CACHE_WB
    0x19, // BUS_ACCESS
    0x2A, // L3D_CACHE_REFILL
    0x2C, // L3D_CACHE_WB
};
static const enum pattern_id causes[] = {sequential_reads, sequential_writes, whole_lines};

bool monitors_present(void)
{
    struct dt_node node;

    return board()->has_tree && dt_find_compatible(&board()->tree, "arm,armv8-pmuv3", 0, &node);
}

void monitors_start(uint32_t event)
{
    sysreg_write(PMEVTYPER0_EL0, event);
    sysreg_write(PMCNTENSET_EL0, 1);
    sysreg_write(PMCR_EL0, sysreg_read(PMCR_EL0) | control_enable);
    cpu_sync_context();
}

uint64_t monitors_count(void)
{
    cpu_sync_context();
    return sysreg_read(PMEVCNTR0_EL0) & 0xFFFFFFFFu;
}

// A loop that accesses no memory: the frequency is that of a busy core.
void measure_frequency(void)
{
    if (!monitors_present())
        return;
    monitors_start(event_cycles);
    uint64_t first = monitors_count();
    uint64_t begin = timer_now();
    uint64_t value = begin;
    volatile uint64_t result; // the loop is not moved behind the time

    for (unsigned i = 0; i < turns; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    result = value;
    (void)result;
    uint64_t took = timer_now() - begin;
    uint64_t cycles = (monitors_count() - first) & 0xFFFFFFFFu;

    if (cycles != 0 && took != 0)
        report_append("  frequency: %lu kHz  # CPU_CYCLES (0x11), beside the counter\n",
                      cycles * (timer_frequency() / 1000) / took);
}

void measure_events(const struct self_test *test)
{
    if (!monitors_present())
        return;
    report_append("events:  # counted at EL1 while one core accessed so many lines of 64 bytes\n");
    for (unsigned p = 0; p < sizeof(causes) / sizeof(causes[0]); p++) {
        for (unsigned e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
            const struct pattern *pattern = &patterns[causes[p]];
            struct place place = {.base = test->memory, .lines = test->core_bytes / line_bytes};
            uint64_t from = timer_now() + ticks_of_us(test->window_us);

            monitors_start(events[e]);
            struct moved moved =
                pattern_run(pattern, &place, from, from + ticks_of_us(test->window_us), true);
            report_append("  - { event: 0x%x, pattern: %s, lines: %lu, counted: %lu }\n", events[e],
                          pattern->name, moved.lines, moved.events & 0xFFFFFFFFu);
        }
    }
}
