/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Events of one period that several cores may draw (B2, B4). One word holds the period's number and what is
 * left, so that a new period, a gift and a draw are one compare-and-swap each. Called from any core; nobody
 * waits for another one.
 */
#ifndef BULKHEAD_CORE_EVENT_POOL_H
#define BULKHEAD_CORE_EVENT_POOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_POOL_MAX_EVENTS ((1ull << 40) - 1)

struct event_pool {
    uint64_t base_events; /* shared: at the beginning of each period */
    uint64_t word;        /* shared: number of the period modulo 2^24, and events left in 40 bits */
};

/* The pool of period `number`, with at most EVENT_POOL_MAX_EVENTS at the beginning of each. All callers must
 * number their periods alike. */
void event_pool_init(struct event_pool *pool, uint64_t base_events, uint64_t number);

/* Another number of events from the next period on. */
void event_pool_set_base(struct event_pool *pool, uint64_t base_events);

/* Takes up to `events` of period `number`; returns how many. None if the pool is in a later period. */
uint64_t event_pool_draw(struct event_pool *pool, uint64_t number, uint64_t events);

/* Nobody has drawn or given for however long: period `number` begins as any other, unless it is the pool's
 * own. While nobody draws. */
void event_pool_renew(struct event_pool *pool, uint64_t number);

/* Adds events to period `number`. Lost if the pool is in a later one, or holds all that it can. */
void event_pool_give(struct event_pool *pool, uint64_t number, uint64_t events);

/* What is left of period `number`. */
uint64_t event_pool_left(const struct event_pool *pool, uint64_t number);

#ifdef __cplusplus
}
#endif

#endif
