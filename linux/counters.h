/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The event counters of one CPU, as perf gives them to the kernel: one or two that overflow where a budget
 * ends. The CPU's driver (regulated_cpu.c) starts and stops them by the values that core/ wants written and
 * read.
 */
#ifndef BULKHEAD_LINUX_COUNTERS_H
#define BULKHEAD_LINUX_COUNTERS_H

#include "core/reservation.h"
#include <linux/perf_event.h>

/* perf keeps 64 bits with a sign, whatever the hardware has. */
#define COUNTERS_BITS       63u
#define COUNTERS_MAX_EVENT  0xFFFFu
#define COUNTERS_PERF_COUNT (RESERVATION_COUNTERS + 1u)

/* What is counted on all CPUs. */
struct counters_choice {
    u32 events[RESERVATION_COUNTERS]; /* raw codes of PMUv3 */
    u32 count;                        /* 1, or 2 for a budget of their sum */
    /* 0, or: a second counter of the first event overflows so many events later, where an overflow can go
     * unnoticed (an emulator's). With one event only. */
    u32 backup_events;
};

struct counters {
    struct perf_event *perf[COUNTERS_PERF_COUNT]; /* of the events, and the second one of the first */
    u64 preload[RESERVATION_COUNTERS];            /* as started */
    s64 base[COUNTERS_PERF_COUNT];                /* perf's counts when they were started */
    u32 count;
    u32 perf_count;
    u32 backup_events;
    u64 uncounted; /* starts that failed, because perf had taken the counter away */
};

/* Takes counters of `cpu`, on which it is called; may sleep. Overflows call `handler` with `context`, in hard
 * interrupt context (or as NMI). -ENOENT: the CPU does not count the event. -EBUSY: no counter is free. */
int counters_open(struct counters *counters, unsigned int cpu, const struct counters_choice *choice,
                  perf_overflow_handler_t handler, void *context);

/* Gives them back; may sleep. */
void counters_close(struct counters *counters);

/* Lets them count on from these values. On their CPU with interrupts off, as all that follows. */
void counters_start(struct counters *counters, const u64 preload[RESERVATION_COUNTERS]);

/* Lets them count without an overflow that anybody sees. */
void counters_start_unlimited(struct counters *counters);

/* Stops them, whatever they do. `readings` are their values. Returns the events since the start, of all. */
u64 counters_stop(struct counters *counters, u64 readings[RESERVATION_COUNTERS]);

#endif
