/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One CPU under regulation, the third driver of core/budget.h and core/regulated_core.h beside EL2 and the
 * simulated machine: counters, a timer on the grid of intervals, messages of other CPUs. Called by cpus.c, on
 * the CPU, with interrupts off.
 */
#ifndef BULKHEAD_LINUX_REGULATED_CPU_H
#define BULKHEAD_LINUX_REGULATED_CPU_H

#include "core/regulated_core.h"
#include "counters.h"
#include "samples.h"
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/smp.h>

struct regulated_cpu {
    unsigned int cpu;
    bool started;
    bool throttled;
    bool held;     /* its thread has it: nothing is counted */
    bool trailing; /* throttled, and not yet held: what is counted is charged without a limit */
    struct counters counters;
    struct budget budget;
    struct regulated_core core;
    struct hrtimer timer;
    call_single_data_t published;
    struct irq_work overflow; /* for an interrupt that came as NMI */
    struct samples samples;
    u64 seen_events; /* at the end of the interval before */
    u64 seen_throttled_ns;
    u64 gave_way; /* times that others ran while it was throttled, to the interval's end or in between */
} ____cacheline_aligned;

/* Sets up all but counters and samples. The parameters' budget and grid are the regulator's; on any CPU. */
void regulated_cpu_init(struct regulated_cpu *own, unsigned int cpu,
                        const struct reservation_parameters *parameters);

/* Of the counters: what they call. */
void regulated_cpu_overflowed(struct perf_event *event, struct perf_sample_data *data,
                              struct pt_regs *registers);

/* Counting and limiting begin and end. The counters are open. */
void regulated_cpu_begin(struct regulated_cpu *own);
void regulated_cpu_end(struct regulated_cpu *own);

/* Whether its thread is to hold it now; from when on nothing is counted. */
bool regulated_cpu_hold(struct regulated_cpu *own);

/* Its thread lets others run, which are counted. */
void regulated_cpu_give_way(struct regulated_cpu *own);

#endif
