/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Every entry point ends in budget_settle(): a spent budget draws from the pool once more or is throttled,
 * which is decided once in a period.
 */
#include "core/budget.h"
#include <stddef.h>

bool budget_init(struct budget *budget, const struct reservation_parameters *parameters,
                 struct reclaim *reclaim)
{
    if (reclaim != NULL &&
        (parameters->kind == RESERVATION_EACH || parameters->limit_events[0] != reclaim->limit_events)) {
        return false;
    }
    reservation_init(&budget->reservation, parameters);
    budget->reclaim = reclaim;
    return true;
}

/* Called when a period of the reservation has begun: withholds the events that the core gives to the pool. */
static void begin_period(struct budget *budget)
{
    struct reservation *reservation = &budget->reservation;

    if (budget->reclaim != NULL) {
        reservation_withhold(reservation, reclaim_begin(budget->reclaim, reservation->period.number));
    }
}

void budget_start(struct budget *budget, uint64_t now_ticks)
{
    if (reservation_start(&budget->reservation, now_ticks)) {
        begin_period(budget);
    }
}

void budget_stop(struct budget *budget, uint64_t now_ticks)
{
    reservation_stop(&budget->reservation, now_ticks);
}

bool budget_settle(struct budget *budget, uint64_t now_ticks)
{
    struct reservation *reservation = &budget->reservation;

    if (!reservation_has_nothing_left(reservation)) {
        return true;
    }
    if (budget->reclaim != NULL && !reservation->spent) {
        reservation_grant(reservation, reclaim_draw(budget->reclaim, reservation_beyond(reservation, 0)));
        if (!reservation_has_nothing_left(reservation)) {
            return true;
        }
        reclaim_note_throttled(budget->reclaim, reservation->used_events[0]);
    }
    reservation_throttle(reservation, now_ticks);
    return !reservation->throttled;
}

struct budget_action budget_load(struct budget *budget, uint64_t now_ticks)
{
    struct budget_action action = {false, {0, 0}};

    action.runs = budget_settle(budget, now_ticks);
    if (action.runs) {
        reservation_arm(&budget->reservation, action.preload);
    }
    return action;
}

void budget_save(struct budget *budget, const uint64_t readings[RESERVATION_COUNTERS])
{
    reservation_account(&budget->reservation, readings);
}

struct budget_action budget_overflow(struct budget *budget, uint64_t now_ticks,
                                     const uint64_t readings[RESERVATION_COUNTERS])
{
    budget_save(budget, readings);
    return budget_load(budget, now_ticks);
}

struct budget_action budget_timer(struct budget *budget, uint64_t now_ticks,
                                  const uint64_t readings[RESERVATION_COUNTERS])
{
    budget_save(budget, readings);
    (void)budget_recharge(budget, now_ticks);
    return budget_load(budget, now_ticks);
}

uint64_t budget_recharge(struct budget *budget, uint64_t now_ticks)
{
    uint64_t used_events = budget->reservation.used_events[0];
    uint64_t ended = reservation_recharge(&budget->reservation, now_ticks);

    if (ended != 0) {
        if (budget->reclaim != NULL) {
            reclaim_learn(budget->reclaim, used_events);
        }
        begin_period(budget);
    }
    return ended;
}

uint64_t budget_deadline(const struct budget *budget)
{
    return budget->reservation.started ? budget->reservation.period.end_ticks : BUDGET_NO_DEADLINE;
}

bool budget_set_limits(struct budget *budget, const uint64_t events[RESERVATION_COUNTERS])
{
    if (budget->reclaim != NULL && (events[0] > EVENT_POOL_MAX_EVENTS || events[1] != 0)) {
        return false;
    }
    if (!reservation_set_limits(&budget->reservation, events)) {
        return false;
    }
    if (budget->reclaim != NULL) {
        budget->reclaim->limit_events = events[0];
    }
    return true;
}
