// SPDX-License-Identifier: Apache-2.0
//
// Parts of the program `self_test`. main.c runs them in order on the first VCPU, and each part adds its own
// section to the YAML text. Times are counter ticks unless the name says nanoseconds.
#ifndef BULKHEAD_GUESTS_SELF_TEST_H
#define BULKHEAD_GUESTS_SELF_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/programs/self_test/pattern.h"

// The memory that is measured, all zeros.
struct self_test {
    uint8_t *memory;
    uint64_t bytes;
    uint64_t largest; // working set of the latency curve, a power of two
    uint64_t core_bytes;
    uint64_t row_stride; // bytes from one row of a DRAM bank to the next; 0: unknown
    uint64_t window_us;  // in which a rate is measured
    uint64_t draws;      // timed random reads of a working set
    uint32_t cpus;
};

// setup.c: memory, parameters that all programs have, and the interrupt controller. Returns false, after a
// line that says why, if the program cannot measure.
bool self_test_begin(struct self_test *test);
// Tells the tool that the program measures, and waits until the hypervisor's own output is over.
void self_test_ready(void);

// latency.c: time of a hit, then of random reads by working set.
void measure_latency(const struct self_test *test);

// rates.c: rates of one core, for large blocks and by working set.
void measure_rates(const struct self_test *test);
void measure_block_reads(const struct self_test *test);

// bandwidth.c: rates of patterns on one core, and then on two, three, ...; how much writes of others delay a
// read.
void measure_one_core(const struct self_test *test);
void measure_several_cores(const struct self_test *test);
void measure_delays(const struct self_test *test);

// monitors.c: frequency of the core, and events that the performance monitors count for known traffic.
void measure_frequency(void);
void measure_events(const struct self_test *test);

// interruptions.c: time for which a budget's interrupts stop the first VCPU: of each period, and of an
// overflow before the budget is spent, while the other VCPUs write. `typical` gets the median of a period's,
// in ticks. Returns false, after a line that says why, if nothing can be measured.
struct budget_setting {
    uint64_t events; // of each VCPU in each period
    uint64_t period_ns;
};
bool measure_interruptions(const struct self_test *test, const struct budget_setting *budget,
                           uint64_t *typical);

// enforcement.c: the same rate in shorter and shorter periods, and smaller and smaller budgets, each until
// one does not hold. `typical`: as above; no shorter period than twice this is tried.
void measure_enforcement(const struct self_test *test, const struct budget_setting *budget, uint64_t typical);

// paths.c: time of a call of the hypervisor, and of interrupts.
void measure_paths(const struct self_test *test);
void paths_interrupt(uint32_t intid);

// team.c: the other VCPUs. team_begin() makes VCPUs 1 to `last` repeat a pattern until the counter has
// reached `until`; what they do from `from` on is measured. A pattern of a few lines a step goes on where the
// VCPU has stopped, so that its lines are in no cache. team_end() waits for them.
struct team_rate {
    uint64_t sum;   // KB/s that the VCPUs access together
    uint64_t least; // of one of them; 0: there are none
};

enum { team_sgi = 1 };
// Starts the VCPUs; returns their number, with the first one.
uint32_t team_start(void);
struct place place_of(const struct self_test *test, const struct pattern *pattern, uint32_t cpu);
void team_begin(const struct self_test *test, const struct pattern *pattern, uint32_t last, uint64_t from,
                uint64_t until);
struct team_rate team_end(uint32_t last);
// What the first VCPU accesses in the measured time while VCPUs 1 to `others` run another pattern.
struct moved team_beside(const struct self_test *test, const struct pattern *own, const struct pattern *other,
                         uint32_t others, struct team_rate *rate);
// Whether what the program knows of the memory is enough for the pattern.
bool pattern_is_possible(const struct self_test *test, const struct pattern *pattern);

// figures.c: conversion of figures, and the text that report_print() prints at the end. It returns false if
// the text did not fit.
uint64_t ticks_of_us(uint64_t us);
uint64_t picoseconds_each(uint64_t ticks, uint64_t count);
uint64_t kilobytes_per_s(uint64_t bytes, uint64_t ticks);
__attribute__((format(printf, 1, 2))) void report_append(const char *format, ...);
void report_append_tenths(const char *name, uint64_t thousandths); // ", name: 12.3"
// "  name: { min: 1 ns, ... }" of measured times, which are put in order. `count` is not 0.
void report_append_times(const char *name, uint64_t *ticks, uint64_t count);
bool report_print(void);

#endif
