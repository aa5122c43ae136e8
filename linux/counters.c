/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * perf allocates the counters and owns their interrupt. While perf itself does nothing with them, the PMU
 * driver's start and stop are called directly, with interrupts off: perf's own interface for changing counts
 * takes a mutex.
 */
#include "counters.h"
#include <asm/sysreg.h>

#define MASK        (U64_MAX >> (64u - COUNTERS_BITS))
/* Preload until the first start: no overflow occurs. */
#define NO_OVERFLOW (1ull << (COUNTERS_BITS - 1))

/* perf accepts any raw code; an event that the CPU does not count stays 0, so its budget would never be
 * spent. Architected events have a bit (DDI 0487, D13: PMCEID<n>_EL0); others are specific to the CPU. */
static bool cpu_counts(u32 event)
{
    u32 number = event & 0x1F;

    switch (event & ~0x1Fu) {
    case 0:
        return (read_sysreg(pmceid0_el0) >> number & 1) != 0;
    case 0x20:
        return (read_sysreg(pmceid1_el0) >> number & 1) != 0;
    default:
        return true;
    }
}

/* Without interrupts of the PMU a spent budget would stop nobody. perf refuses samples then, but only to
 * programs. Kernels state what a PMU cannot do; a proposal for later ones is to state what it can. */
static bool can_interrupt(const struct pmu *pmu)
{
#ifdef PERF_PMU_CAP_NO_INTERRUPT
    return (pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT) == 0;
#else
    return (pmu->capabilities & PERF_PMU_CAP_SAMPLING) != 0;
#endif
}

static int open_one(struct perf_event **made, unsigned int cpu, u32 code, perf_overflow_handler_t handler,
                    void *context)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_RAW,
        .size = sizeof(attr),
        .config = code,
        .sample_period = NO_OVERFLOW,
        .pinned = 1,
    };
    struct perf_event *event = perf_event_create_kernel_counter(&attr, (int)cpu, NULL, handler, context);

    if (IS_ERR(event)) {
        return (int)PTR_ERR(event);
    }
    if (!can_interrupt(event->pmu)) {
        perf_event_release_kernel(event);
        return -EOPNOTSUPP;
    }
    if (READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE) {
        perf_event_release_kernel(event);
        return -EBUSY;
    }
    *made = event;
    return 0;
}

int counters_open(struct counters *counters, unsigned int cpu, const struct counters_choice *choice,
                  perf_overflow_handler_t handler, void *context)
{
    u32 wanted = choice->count + (choice->backup_events != 0 ? 1 : 0);

    *counters = (struct counters){.count = choice->count, .backup_events = choice->backup_events};
    /* Without a PMU its registers are undefined, so perf is asked first. */
    for (u32 i = 0; i < wanted; i++) {
        u32 code = choice->events[i < choice->count ? i : 0];
        int error = open_one(&counters->perf[i], cpu, code, handler, context);

        if (error == 0) {
            counters->perf_count++;
            error = cpu_counts(code) ? 0 : -ENOENT;
        }
        if (error != 0) {
            counters_close(counters);
            return error;
        }
    }
    return 0;
}

void counters_close(struct counters *counters)
{
    while (counters->perf_count != 0) {
        counters->perf_count--;
        perf_event_release_kernel(counters->perf[counters->perf_count]);
        counters->perf[counters->perf_count] = NULL;
    }
}

/* Stops a counter, also if perf has restarted it: perf restarts all counters when it makes room for another
 * event. */
static void stop_one(struct perf_event *event)
{
    if ((event->hw.state & PERF_HES_STOPPED) == 0) {
        event->pmu->stop(event, PERF_EF_UPDATE);
    }
}

/* False if perf has no hardware counter for it. */
static bool start_one(struct perf_event *event, u64 ahead)
{
    if (event->state != PERF_EVENT_STATE_ACTIVE) {
        return false;
    }
    stop_one(event);
    event->hw.interrupts = 0; /* perf limits the rate of samples by this; these are not samples */
    event->hw.sample_period = ahead;
    event->hw.last_period = ahead;
    local64_set(&event->hw.period_left, (s64)ahead);
    event->pmu->start(event, PERF_EF_RELOAD);
    return true;
}

static void start(struct counters *counters, u32 index, u64 ahead)
{
    counters->base[index] = local64_read(&counters->perf[index]->count);
    if (!start_one(counters->perf[index], ahead)) {
        counters->uncounted++;
    }
}

void counters_start(struct counters *counters, const u64 preload[RESERVATION_COUNTERS])
{
    u64 ahead = 0;

    for (u32 i = 0; i < counters->count; i++) {
        ahead = (0 - preload[i]) & MASK;
        counters->preload[i] = preload[i];
        start(counters, i, ahead);
    }
    if (counters->backup_events != 0) {
        start(counters, counters->count, ahead + counters->backup_events);
    }
}

void counters_start_unlimited(struct counters *counters)
{
    const u64 far[RESERVATION_COUNTERS] = {NO_OVERFLOW, NO_OVERFLOW};

    counters_start(counters, far);
}

u64 counters_stop(struct counters *counters, u64 readings[RESERVATION_COUNTERS])
{
    u64 all = 0;

    readings[1] = 0;
    for (u32 i = 0; i < counters->perf_count; i++) {
        stop_one(counters->perf[i]);
    }
    for (u32 i = 0; i < counters->count; i++) {
        u64 events = (u64)(local64_read(&counters->perf[i]->count) - counters->base[i]);

        readings[i] = (counters->preload[i] + events) & MASK;
        all += events;
    }
    return all;
}
