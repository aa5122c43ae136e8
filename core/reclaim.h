/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One budget's access to a pool (B2, B4): how much the budget gives to the pool at the beginning of a period,
 * because it will not need it, and how much it draws when its own events are spent. A domain's budget that
 * its VCPUs share is a pool that holds all events from the beginning, to which nobody gives. Called by
 * budget.h, on the core of the budget.
 */
#ifndef BULKHEAD_CORE_RECLAIM_H
#define BULKHEAD_CORE_RECLAIM_H

#include "core/event_pool.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The moving average is in 1/16 of an event, and a new value has a weight of 1/4. */
#define RECLAIM_FRACTION_BITS 4u
#define RECLAIM_WEIGHT_BITS   2u

struct reclaim {
    struct event_pool *pool;
    uint64_t chunk_events; /* events of one draw */
    uint64_t limit_events; /* the guaranteed budget */
    bool gives;
    uint64_t average;      /* moving average of the events used in a period, in 1/16 of an event */
    uint64_t number;       /* number of the current period */
    uint64_t given_events; /* events given in the current period */
    uint64_t drawn_events; /* events drawn in all periods */
    uint64_t total_given_events;
    uint64_t violations;       /* periods in which the budget could not get back what it had given */
    uint64_t shortfall_events; /* events that it lacked in these periods */
};

/* Initializes a budget of `limit_events` in each period (at most EVENT_POOL_MAX_EVENTS; an unlimited budget
 * cannot have a pool), which draws from `pool` `chunk_events` > 0 at a time. `gives`: it donates events that
 * it will not need, which a real-time budget must not do. Returns false if `gives` and `realtime` are both
 * set or a number is out of range. */
bool reclaim_init(struct reclaim *reclaim, struct event_pool *pool, uint64_t limit_events,
                  uint64_t chunk_events, bool gives, bool realtime);

/* Starts period `number`. Returns how many events of the guaranteed budget were given to the pool. */
uint64_t reclaim_begin(struct reclaim *reclaim, uint64_t number);

/* A period has ended in which `used_events` were used: updates the prediction. */
void reclaim_learn(struct reclaim *reclaim, uint64_t used_events);

/* The budget is spent and was exceeded by `beyond_events`: returns how many more events it gets from the
 * pool, at most a chunk and `beyond_events`; 0 if the pool is empty. */
uint64_t reclaim_draw(struct reclaim *reclaim, uint64_t beyond_events);

/* The budget's owner is throttled after `used_events`. Counts a violation if it had given events and used
 * fewer than its guaranteed budget. */
void reclaim_note_throttled(struct reclaim *reclaim, uint64_t used_events);

#ifdef __cplusplus
}
#endif

#endif
