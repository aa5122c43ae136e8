/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One core under a regulator (B5-B8): what it does at the end of an interval and when budgets were published.
 * Called on that core with interrupts masked; regulator and exchange are shared by all of them.
 */
#ifndef BULKHEAD_CORE_REGULATED_CORE_H
#define BULKHEAD_CORE_REGULATED_CORE_H

#include "core/budget.h"
#include "core/regulator_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

struct regulated_core {
    struct budget *budget;
    struct regulator_exchange *exchange;
    uint32_t index; /* of the core in masks and budgets */
};

/* False if the budget cannot be regulated: it has no periods, a budget for each of two counters, or a pool.
 */
bool regulated_init(struct regulated_core *core, struct budget *budget, struct regulator_exchange *exchange,
                    uint32_t index);

/* The core's timer, instead of budget_timer(): accounts, recharges with the budget that it has, and posts.
 * True if it is the last one of its interval: it fills in the load of the sample and calls regulated_step().
 * In any case, regulated_load() is next. */
bool regulated_timer(struct regulated_core *core, uint64_t now_ticks,
                     const uint64_t readings[RESERVATION_COUNTERS], struct regulator_sample *sample);

/* Steps the regulator and publishes the budgets of this core's interval; the others are to be interrupted. */
void regulated_step(struct regulated_core *core, struct regulator *regulator,
                    const struct regulator_sample *sample);

/* Takes what was published for the interval in which the core is, if it was, and loads the budget. After
 * regulated_timer(), or after the publisher's interrupt and budget_save(). */
struct budget_action regulated_load(struct regulated_core *core, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
