/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The event counters of one CPU, as perf gives them to the kernel: one or two that overflow when a budget is
 * spent. The CPU's driver (regulated_cpu.c) starts and stops them with the values that core/ computes, and
 * reads them for core/.
 */
#ifndef BULKHEAD_LINUX_COUNTERS_H
#define BULKHEAD_LINUX_COUNTERS_H

#include "core/reservation.h"
#include <linux/perf_event.h>

/* perf keeps signed 64-bit counts, whatever the width of the hardware counters. */
#define COUNTERS_BITS       63u
#define COUNTERS_MAX_EVENT  0xFFFFu
#define COUNTERS_PERF_COUNT (RESERVATION_COUNTERS + 1u)

/* The counted events, the same on all CPUs. */
struct counters_choice {
    u32 events[RESERVATION_COUNTERS]; /* raw codes of PMUv3 */
    u32 count;                        /* 1, or 2 for a budget of the sum of both */
    /* If not 0: a second counter of the first event overflows so many events later, for hardware (an
     * emulator's) where an overflow can be missed. Only with one event. */
    u32 backup_events;
};

struct counters {
    struct perf_event *perf[COUNTERS_PERF_COUNT]; /* of the events, and the backup counter of the first */
    u64 preload[RESERVATION_COUNTERS];            /* values at the start */
    s64 base[COUNTERS_PERF_COUNT];                /* perf's counts at the start */
    u32 count;
    u32 perf_count;
    u32 backup_events;
    u64 uncounted; /* starts that failed because perf had taken the counter away */
};

/* Takes counters of `cpu`, on which it is called; may sleep. Overflows call `handler` with `context`, in hard
 * interrupt context (or as NMI). -ENOENT: the CPU does not count the event. -EBUSY: no counter is free.
 * -EOPNOTSUPP: the PMU has no interrupt. */
int counters_open(struct counters *counters, unsigned int cpu, const struct counters_choice *choice,
                  perf_overflow_handler_t handler, void *context);

/* Releases the counters; may sleep. */
void counters_close(struct counters *counters);

/* Starts them from these values. Called on their CPU with interrupts off, as are all functions below. */
void counters_start(struct counters *counters, const u64 preload[RESERVATION_COUNTERS]);

/* Starts them so that no overflow is reported. */
void counters_start_unlimited(struct counters *counters);

/* Stops them in any state. `readings`: their values. Returns the events since the start, summed over all. */
u64 counters_stop(struct counters *counters, u64 readings[RESERVATION_COUNTERS]);

#endif
