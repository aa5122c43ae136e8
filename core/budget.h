/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A budget as the owner of the counters uses it (B1-B4): a reservation, and the pool behind it if there is
 * one. The caller stops the counters, reads them, asks here, and does as the answer says. Called on the
 * budget's core with interrupts masked.
 */
#ifndef BULKHEAD_CORE_BUDGET_H
#define BULKHEAD_CORE_BUDGET_H

#include "core/reclaim.h"
#include "core/reservation.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BUDGET_NO_DEADLINE PERIOD_NEVER

struct budget {
    struct reservation reservation;
    struct reclaim *reclaim; /* NULL: nothing but its own */
};

/* What to do with the core and its counters. */
struct budget_action {
    bool runs;                              /* else: leave the counters stopped, no guest instruction */
    uint64_t preload[RESERVATION_COUNTERS]; /* to write into the counters before they start */
};

/* Parameters must have passed reservation_check(). A `reclaim` is this budget's alone, and has the same
 * limit; where VCPUs share their domain's budget that is 0, and all comes from the pool. False if the limits
 * differ, or the kind is RESERVATION_EACH, which has no pool. */
bool budget_init(struct budget *budget, const struct reservation_parameters *parameters,
                 struct reclaim *reclaim);

/* Periods begin, or go on (reservation_start()). */
void budget_start(struct budget *budget, uint64_t now_ticks);

/* Nothing is counted from now on, until the next start. The counters have been saved. */
void budget_stop(struct budget *budget, uint64_t now_ticks);

/* True if the guest may run: something is left, or the pool had something. Else it is throttled. The counters
 * have been saved. */
bool budget_settle(struct budget *budget, uint64_t now_ticks);

/* The guest is about to be entered. */
struct budget_action budget_load(struct budget *budget, uint64_t now_ticks);

/* The guest was left for another one, or stopped. Counters that were not loaded may have any value. */
void budget_save(struct budget *budget, const uint64_t readings[RESERVATION_COUNTERS]);

/* A counter overflowed, or may have. */
struct budget_action budget_overflow(struct budget *budget, uint64_t now_ticks,
                                     const uint64_t readings[RESERVATION_COUNTERS]);

/* The deadline has come, or may have. */
struct budget_action budget_timer(struct budget *budget, uint64_t now_ticks,
                                  const uint64_t readings[RESERVATION_COUNTERS]);

/* Recharges a budget that is not loaded, if its period has ended. Returns how many have. */
uint64_t budget_recharge(struct budget *budget, uint64_t now_ticks);

/* Other budgets from the next recharge on. False, and nothing changed, if they are invalid. */
bool budget_set_limits(struct budget *budget, const uint64_t events[RESERVATION_COUNTERS]);

/* When budget_timer() must be called next; BUDGET_NO_DEADLINE if never. */
uint64_t budget_deadline(const struct budget *budget);

#ifdef __cplusplus
}
#endif

#endif
