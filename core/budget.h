/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A budget, as the owner of the counters uses it (B1-B4): a reservation and, if there is one, the pool that
 * it draws from. The caller stops and reads the counters, calls a function here, and does what the returned
 * action says. Called on the budget's core with interrupts masked.
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
    struct reclaim *reclaim; /* NULL: no pool */
};

/* What the caller has to do with the core and its counters. */
struct budget_action {
    /* if false: leave the counters stopped and do not enter the guest */
    bool runs;
    uint64_t preload[RESERVATION_COUNTERS]; /* values to write into the counters before they start */
};

/* The parameters must have passed reservation_check(). A `reclaim` belongs to this budget alone and has the
 * same limit; if VCPUs share their domain's budget the limit is 0 and all events come from the pool. Returns
 * false if the limits differ, or if the kind is RESERVATION_EACH, which cannot have a pool. */
bool budget_init(struct budget *budget, const struct reservation_parameters *parameters,
                 struct reclaim *reclaim);

/* Starts or continues the periods (reservation_start()). */
void budget_start(struct budget *budget, uint64_t now_ticks);

/* Counts nothing until the next start. The counters must have been saved. */
void budget_stop(struct budget *budget, uint64_t now_ticks);

/* Returns true if the guest may run: some of its budget is left, or the pool gave events. Otherwise it is
 * throttled. The counters must have been saved. */
bool budget_settle(struct budget *budget, uint64_t now_ticks);

/* Called before the guest is entered. */
struct budget_action budget_load(struct budget *budget, uint64_t now_ticks);

/* Called when the core switches to another guest or the guest stops. Readings of counters that were not
 * loaded may have any value. */
void budget_save(struct budget *budget, const uint64_t readings[RESERVATION_COUNTERS]);

/* Called when a counter overflowed, or may have. */
struct budget_action budget_overflow(struct budget *budget, uint64_t now_ticks,
                                     const uint64_t readings[RESERVATION_COUNTERS]);

/* Called when the deadline has passed, or may have. */
struct budget_action budget_timer(struct budget *budget, uint64_t now_ticks,
                                  const uint64_t readings[RESERVATION_COUNTERS]);

/* Refills a budget that is not loaded, if its period has ended. Returns the number of periods that have
 * ended. */
uint64_t budget_recharge(struct budget *budget, uint64_t now_ticks);

/* Sets new limits, in force from the next refill on. Returns false and changes nothing if they are
 * invalid. */
bool budget_set_limits(struct budget *budget, const uint64_t events[RESERVATION_COUNTERS]);

/* The time at which budget_timer() must be called next; BUDGET_NO_DEADLINE if never. */
uint64_t budget_deadline(const struct budget *budget);

#ifdef __cplusplus
}
#endif

#endif
