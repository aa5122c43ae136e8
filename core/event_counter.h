/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One event counter of the hardware, as budgets use it (B1): which value to write so that it overflows at the
 * k-th event, and how many events lie between two readings. This code accesses no registers; the caller reads
 * and writes them.
 */
#ifndef BULKHEAD_CORE_EVENT_COUNTER_H
#define BULKHEAD_CORE_EVENT_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_COUNTER_MIN_BITS 8u
#define EVENT_COUNTER_MAX_BITS 64u

/* Starts as {bits, 0}, with EVENT_COUNTER_MIN_BITS <= bits <= EVENT_COUNTER_MAX_BITS. */
struct event_counter {
    uint32_t bits;
    uint64_t last; /* the value when it was last written or read */
};

/* The largest value that the counter can have. */
static inline uint64_t event_counter_mask(const struct event_counter *counter)
{
    return UINT64_MAX >> ((EVENT_COUNTER_MAX_BITS - counter->bits) % EVENT_COUNTER_MAX_BITS);
}

/* The largest number of events after which an overflow can be set: half of the counter's range. The other
 * half is for events between an overflow and its reading, so that a difference is never ambiguous. */
static inline uint64_t event_counter_reach(const struct event_counter *counter)
{
    return event_counter_mask(counter) / 2 + 1;
}

/* The value to write so that the counter overflows at the `events`-th event from now, or after
 * event_counter_reach() events if that is sooner. 0 events are taken as 1. */
static inline uint64_t event_counter_arm(struct event_counter *counter, uint64_t events)
{
    uint64_t reach = event_counter_reach(counter);
    uint64_t ahead = events == 0 ? 1 : events;

    if (ahead > reach) {
        ahead = reach;
    }
    counter->last = (0 - ahead) & event_counter_mask(counter);
    return counter->last;
}

/* Events since the counter was last written or read; at most the range of the counter. */
static inline uint64_t event_counter_advance(struct event_counter *counter, uint64_t reading)
{
    uint64_t mask = event_counter_mask(counter);
    uint64_t events = (reading - counter->last) & mask;

    counter->last = reading & mask;
    return events;
}

#ifdef __cplusplus
}
#endif

#endif
