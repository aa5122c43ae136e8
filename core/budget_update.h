/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Budget and period of a domain, which a manager may change at run time (B8). A change takes effect at the
 * beginning of one period, the same for all cores: every core sees the new setting before that period begins,
 * and applies it at its own timer. The caller holds the lock of the record.
 */
#ifndef BULKHEAD_CORE_BUDGET_UPDATE_H
#define BULKHEAD_CORE_BUDGET_UPDATE_H

#include "core/budget.h"

#ifdef __cplusplus
extern "C" {
#endif

struct budget_setting {
    uint64_t sequence; /* 0: the initial setting */
    uint64_t events;   /* in each period */
    /* events of one draw from a budget that all VCPUs share; 0: each VCPU has its own budget */
    uint64_t chunk_events;
    struct period_grid grid; /* the setting is in force from the grid's start on */
};

struct budget_update {
    /* the setting in force, or an older one if budget_update_current() was not called since */
    struct budget_setting held;
    struct budget_setting staged; /* the staged setting; the same sequence as `held` if none is staged */
};

void budget_update_init(struct budget_update *update, const struct budget_setting *first);

/* The setting in force at `now_ticks`. Times of successive calls must not decrease. */
const struct budget_setting *budget_update_current(struct budget_update *update, uint64_t now_ticks);

/* The setting that was requested last. */
const struct budget_setting *budget_update_latest(const struct budget_update *update);

/* Requests another setting. It takes effect at the first period that begins at least `notice_ticks` from now,
 * so that all cores have time to see it. A setting that was staged is dropped. Returns the time at which it
 * takes effect; 0, with nothing changed, if the events or the length of the period are out of range. */
uint64_t budget_update_request(struct budget_update *update, uint64_t now_ticks, uint64_t notice_ticks,
                               uint64_t events, uint64_t chunk_events, uint64_t length_ticks);

/* Applies the setting in force to a budget whose counters have been saved and that still has an older
 * setting. If the budget's period has ended, it is refilled with the new setting. */
void budget_apply(struct budget *budget, const struct budget_setting *setting, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
