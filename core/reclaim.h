/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One budget's side of a pool (B2, B4): what it gives at the beginning of a period, because it will not need
 * it, and what it draws when its own is spent. A domain's budget that its VCPUs share is a pool that has all
 * events from the beginning, and nobody gives. Called by budget.h, on the core of the budget.
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
    uint64_t chunk_events; /* of one draw */
    uint64_t limit_events; /* the guaranteed budget */
    bool gives;
    uint64_t average;      /* use of a period, in 1/16 of an event */
    uint64_t number;       /* of the current period */
    uint64_t given_events; /* in the current period */
    uint64_t drawn_events; /* in all */
    uint64_t total_given_events;
    uint64_t violations;       /* periods in which it could not have its guarantee back */
    uint64_t shortfall_events; /* what it missed in them */
};

/* A budget of `limit_events` a period that draws from `pool`, `chunk_events` > 0 at a time; one that is not
 * limited needs no pool. `gives`: it donates what it will not need, which a real-time budget must not. False
 * if that is what was asked for, or a number is out of range. */
bool reclaim_init(struct reclaim *reclaim, struct event_pool *pool, uint64_t limit_events,
                  uint64_t chunk_events, bool gives, bool realtime);

/* Period `number` begins. Returns how many events of the guaranteed budget it goes without. */
uint64_t reclaim_begin(struct reclaim *reclaim, uint64_t number);

/* A period has ended, in which it had used so many: what the prediction learns from. */
void reclaim_learn(struct reclaim *reclaim, uint64_t used_events);

/* Its budget is spent, and overshot by `beyond_events`: returns how many events it may have besides, up to a
 * chunk and those; 0 if there are none. */
uint64_t reclaim_draw(struct reclaim *reclaim, uint64_t beyond_events);

/* It is throttled after `used_events`. Counts a violation if that is less than its guarantee. */
void reclaim_note_throttled(struct reclaim *reclaim, uint64_t used_events);

#ifdef __cplusplus
}
#endif

#endif
