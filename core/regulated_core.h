/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One core under a regulator (B5-B8): its actions at the end of an interval and after budgets were published.
 * Called on that core with interrupts masked; all regulated cores share the regulator and the exchange.
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
    uint32_t index; /* index of the core in masks and budgets */
    uint64_t seen;  /* regulator_exchange_count() of the message that is in force here */
    bool joins;     /* it takes part as soon as it has the others' grid */
};

/* Returns false if the budget cannot be regulated: it has no periods, a separate budget for each of two
 * counters, or a pool. */
bool regulated_init(struct regulated_core *core, struct budget *budget, struct regulator_exchange *exchange,
                    uint32_t index);

/* The core, which has just been started, takes part from the call of regulated_load() on in which it has the
 * grid that the others published last: with a grid of its own, its intervals would have other numbers. */
void regulated_join(struct regulated_core *core);

/* Called at the core's timer instead of budget_timer(): accounts the events, refills with the budget that the
 * core has, and posts. Returns true if the core is the last one of its interval: then it fills in the load of
 * the sample and calls regulated_step(). In any case, call regulated_load() next. */
bool regulated_timer(struct regulated_core *core, uint64_t now_ticks,
                     const uint64_t readings[RESERVATION_COUNTERS], struct regulator_sample *sample);

/* The core, whose counters have been saved, takes part no more. What it used in this interval counts. Returns
 * true if the others waited only for this core: then their interval ends now, also for this core, which does
 * what regulated_timer() says. Without any core, there are no steps: budgets, also those of devices, stay as
 * they are until a core joins. */
bool regulated_leave(struct regulated_core *core, uint64_t now_ticks, struct regulator_sample *sample);

/* Steps the regulator and publishes the budgets of the interval in which this core is. Returns the mask of
 * the cores that have another budget than before: the caller then interrupts these, but not itself. A core
 * whose budget stays needs no interrupt, as one that is only counted. */
uint32_t regulated_step(struct regulated_core *core, struct regulator *regulator,
                        const struct regulator_sample *sample);

/* Takes the budget that was published last, unless it is for a later interval than the core's, and loads the
 * budget. Called after regulated_timer(), or after the publisher's interrupt and budget_save(). */
struct budget_action regulated_load(struct regulated_core *core, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
