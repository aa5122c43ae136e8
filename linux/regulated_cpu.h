/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One CPU under regulation: the third driver of core/budget.h and core/regulated_core.h, next to EL2 and the
 * simulated machine. It has counters, a timer on the grid of intervals, and messages of other CPUs. Called by
 * cpus.c, on the CPU, with interrupts off.
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
    bool held;     /* its thread holds the CPU: only interrupts and what they defer run */
    bool trailing; /* throttled: events are counted and charged without a limit */
    struct counters counters;
    struct budget budget;
    struct regulated_core core;
    struct hrtimer timer;
    call_single_data_t published;
    struct irq_work overflow; /* for an overflow interrupt that came as NMI */
    struct samples samples;
    u64 seen_events; /* at the end of the previous interval */
    u64 seen_throttled_ns;
    /* times that other tasks ran while it was throttled: at the end of the interval, or within it */
    u64 gave_way;
    u64 held_events; /* events while its thread held the CPU; they are overshoot, too */
} ____cacheline_aligned;

/* Sets up everything except counters and samples. The parameters' budget and grid are the regulator's. May be
 * called on any CPU. */
void regulated_cpu_init(struct regulated_cpu *own, unsigned int cpu,
                        const struct reservation_parameters *parameters);

/* Overflow handler of the counters. */
void regulated_cpu_overflowed(struct perf_event *event, struct perf_sample_data *data,
                              struct pt_regs *registers);

/* Begin and end counting and limiting. The counters must be open. */
void regulated_cpu_begin(struct regulated_cpu *own);
void regulated_cpu_end(struct regulated_cpu *own);

/* Whether its thread must hold the CPU now; if so, events from now on are those of interrupts. */
bool regulated_cpu_hold(struct regulated_cpu *own);

/* Called when its thread lets other tasks run: events from now on are theirs. */
void regulated_cpu_give_way(struct regulated_cpu *own);

#endif
