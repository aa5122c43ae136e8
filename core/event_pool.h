/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A pool of events of one period that several cores may draw from (B2, B4). One word holds the number of the
 * period and the events that are left, so that a new period, a gift and a draw are one compare-and-swap each.
 * A pool that nobody has used for about 2^24 periods can be empty for up to 2^16 periods (event_pool.c).
 * Called from any core; no core waits for another.
 */
#ifndef BULKHEAD_CORE_EVENT_POOL_H
#define BULKHEAD_CORE_EVENT_POOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_POOL_MAX_EVENTS ((1ull << 40) - 1)

struct event_pool {
    uint64_t base_events; /* shared: events at the beginning of each period */
    uint64_t word;        /* shared: number of the period modulo 2^24, and events left in 40 bits */
};

/* Initializes the pool at period `number`, with `base_events` (at most EVENT_POOL_MAX_EVENTS) at the
 * beginning of each period. All callers must number their periods alike. */
void event_pool_init(struct event_pool *pool, uint64_t base_events, uint64_t number);

/* Sets the number of events that the pool starts with, from the next period on: the first core that draws or
 * gives in a period finds the number that is set then. */
void event_pool_set_base(struct event_pool *pool, uint64_t base_events);

/* Takes up to `events` of period `number` and returns how many. 0 if the pool is already in a later
 * period. */
uint64_t event_pool_draw(struct event_pool *pool, uint64_t number, uint64_t events);

/* Adds events to period `number`. They are lost if the pool is in a later period; beyond the pool's maximum,
 * they are lost as well. */
void event_pool_give(struct event_pool *pool, uint64_t number, uint64_t events);

/* Events that are left in period `number`. */
uint64_t event_pool_left(const struct event_pool *pool, uint64_t number);

#ifdef __cplusplus
}
#endif

#endif
