/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Budget and period of a domain, which a manager may change while they are in use (B8). A change holds from
 * the beginning of a period on, the same one for all cores: they have it in front of them before that period
 * begins, and each takes it at its own timer. Whoever calls these holds the lock of the record.
 */
#ifndef BULKHEAD_CORE_BUDGET_UPDATE_H
#define BULKHEAD_CORE_BUDGET_UPDATE_H

#include "core/budget.h"

#ifdef __cplusplus
extern "C" {
#endif

struct budget_setting {
    uint64_t sequence;       /* 0: the first ones */
    uint64_t events;         /* of each period */
    uint64_t chunk_events;   /* of one draw from the budget that all share; 0: each has its own */
    struct period_grid grid; /* they hold from its start */
};

struct budget_update {
    struct budget_setting held;   /* of now, or of before if nobody has looked since */
    struct budget_setting staged; /* of the same sequence, or that come */
};

void budget_update_init(struct budget_update *update, const struct budget_setting *first);

/* What holds now. Time does not go back. */
const struct budget_setting *budget_update_current(struct budget_update *update, uint64_t now_ticks);

/* What was asked for last. */
const struct budget_setting *budget_update_latest(const struct budget_update *update);

/* Another setting from the first period on that begins `notice_ticks` from now or later: time enough for this
 * to be seen by all cores. What waited is forgotten. Returns when they begin; 0, and nothing changed, if
 * events or the length of the period are out of range. */
uint64_t budget_update_request(struct budget_update *update, uint64_t now_ticks, uint64_t notice_ticks,
                               uint64_t events, uint64_t chunk_events, uint64_t length_ticks);

/* A budget whose counters have been saved takes the setting that holds now, another one than it has: full
 * again, with this, if its period has ended. */
void budget_apply(struct budget *budget, const struct budget_setting *setting, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
