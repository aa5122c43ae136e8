/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Reservations. Events are charged when counters are read. The counters are armed such that one overflows no
 * later than when a budget is spent, so the reading is in time.
 */
#include "core/reservation.h"

uint32_t reservation_budgets(const struct reservation *reservation)
{
    return reservation->parameters.kind == RESERVATION_EACH ? RESERVATION_COUNTERS : 1;
}

uint32_t reservation_counters(const struct reservation *reservation)
{
    return reservation->parameters.kind == RESERVATION_ONE ? 1 : RESERVATION_COUNTERS;
}

static void refill(struct reservation *reservation)
{
    for (uint32_t i = 0; i < RESERVATION_COUNTERS; i++) {
        reservation->granted_events[i] = reservation->parameters.limit_events[i];
        reservation->used_events[i] = 0;
    }
    reservation->spent = false;
}

void reservation_init(struct reservation *reservation, const struct reservation_parameters *parameters)
{
    *reservation = (struct reservation){.parameters = *parameters};
    for (uint32_t i = 0; i < RESERVATION_COUNTERS; i++) {
        reservation->counters[i].bits = parameters->counter_bits;
    }
    reservation->period.grid = parameters->grid;
}

/* Records the most events of a period, also of the current one before its end: it may be the last one. */
static void note_most(struct reservation *reservation)
{
    struct reservation_statistics *statistics = &reservation->statistics;

    if (reservation->used_events[0] > statistics->period_max_events) {
        statistics->period_max_events = reservation->used_events[0];
    }
    if (reservation->used_events[1] > statistics->second_max_events) {
        statistics->second_max_events = reservation->used_events[1];
    }
}

/* Records statistics of the period that ends: the most events, and the events beyond the budget. */
static void close_period(struct reservation *reservation)
{
    struct reservation_statistics *statistics = &reservation->statistics;
    uint64_t beyond = 0;

    for (uint32_t i = 0; i < reservation_budgets(reservation); i++) {
        beyond += reservation_beyond(reservation, i);
    }
    note_most(reservation);
    if (beyond != 0) {
        statistics->overshoot_periods++;
        statistics->overshoot_events += beyond;
        if (beyond > statistics->overshoot_max_events) {
            statistics->overshoot_max_events = beyond;
        }
    }
    statistics->periods++;
}

static void release(struct reservation *reservation, uint64_t now_ticks)
{
    reservation->statistics.throttled_ticks = reservation_throttled_ticks(reservation, now_ticks);
    reservation->throttled = false;
}

bool reservation_start(struct reservation *reservation, uint64_t now_ticks)
{
    reservation->started = true;
    if (!reservation->begun) {
        reservation->begun = true;
        period_start(&reservation->period, now_ticks);
    } else if (period_advance(&reservation->period, now_ticks) != 0) {
        close_period(reservation); /* periods in which it was stopped are not counted */
    } else {
        return false;
    }
    refill(reservation);
    return true;
}

void reservation_stop(struct reservation *reservation, uint64_t now_ticks)
{
    release(reservation, now_ticks);
    note_most(reservation);
    reservation->counting = false;
    reservation->started = false;
}

uint64_t reservation_left(const struct reservation *reservation, uint32_t budget)
{
    uint64_t granted = reservation->granted_events[budget];
    uint64_t used = reservation->used_events[budget];

    if (granted == RESERVATION_UNLIMITED) {
        return RESERVATION_UNLIMITED;
    }
    return used < granted ? granted - used : 0;
}

uint64_t reservation_beyond(const struct reservation *reservation, uint32_t budget)
{
    uint64_t granted = reservation->granted_events[budget];
    uint64_t used = reservation->used_events[budget];

    return used > granted ? used - granted : 0;
}

bool reservation_has_nothing_left(const struct reservation *reservation)
{
    for (uint32_t i = 0; i < reservation_budgets(reservation); i++) {
        if (reservation_left(reservation, i) == 0) {
            return true;
        }
    }
    return false;
}

/* The slack of the present budget, which a regulator may have lowered since the slack was chosen. */
static uint64_t slack_of(const struct reservation *reservation)
{
    uint64_t most = reservation_most_slack(reservation->granted_events[0]);
    uint64_t wanted = reservation->parameters.slack_events;

    return wanted < most ? wanted : most;
}

/* Number of events after which a counter overflows. If each of two counters gets half of the remaining
 * events, at most that many have happened when the first of them overflows. */
static uint64_t events_ahead(const struct reservation *reservation, uint32_t counter)
{
    uint64_t left;

    if (reservation->parameters.kind != RESERVATION_SUM) {
        left = reservation_left(reservation, counter);
    } else {
        left = reservation_left(reservation, 0);
        if (left > 1 && left > slack_of(reservation)) {
            left /= 2;
        }
    }
    return left != 0 ? left : RESERVATION_UNLIMITED; /* nothing left, but it shall keep running */
}

void reservation_arm(struct reservation *reservation, uint64_t preload[RESERVATION_COUNTERS])
{
    uint32_t counters = reservation_counters(reservation);

    preload[1] = 0;
    for (uint32_t i = 0; i < counters; i++) {
        preload[i] = event_counter_arm(&reservation->counters[i], events_ahead(reservation, i));
    }
    reservation->counting = true;
}

void reservation_account(struct reservation *reservation, const uint64_t readings[RESERVATION_COUNTERS])
{
    uint32_t counters = reservation_counters(reservation);

    if (!reservation->counting) {
        return;
    }
    reservation->counting = false;
    for (uint32_t i = 0; i < counters; i++) {
        uint64_t events = event_counter_advance(&reservation->counters[i], readings[i]);
        uint32_t budget = reservation->parameters.kind == RESERVATION_EACH ? i : 0;

        reservation->used_events[budget] += events;
        reservation->statistics.events += events;
        reservation->statistics.second_events += budget == 0 ? 0 : events;
    }
}

void reservation_charge(struct reservation *reservation, uint64_t events)
{
    reservation->used_events[0] += events;
    reservation->statistics.events += events;
}

void reservation_grant(struct reservation *reservation, uint64_t events)
{
    uint64_t granted = reservation->granted_events[0];
    uint64_t room = RESERVATION_UNLIMITED - 1 - granted; /* a limited budget stays limited */

    if (granted != RESERVATION_UNLIMITED) {
        reservation->granted_events[0] = granted + (events < room ? events : room);
    }
}

void reservation_withhold(struct reservation *reservation, uint64_t events)
{
    uint64_t granted = reservation->granted_events[0];

    if (granted != RESERVATION_UNLIMITED) {
        reservation->granted_events[0] = events < granted ? granted - events : 0;
    }
}

void reservation_throttle(struct reservation *reservation, uint64_t now_ticks)
{
    bool stops = !reservation->parameters.keep_running;

    if (!reservation->spent) {
        reservation->spent = true;
        reservation->statistics.spent_periods++;
        reservation->statistics.throttled_periods += stops;
    }
    if (stops && !reservation->throttled) {
        reservation->throttled = true;
        reservation->throttled_since_ticks = now_ticks;
    }
}

uint64_t reservation_recharge(struct reservation *reservation, uint64_t now_ticks)
{
    uint64_t ended = period_advance(&reservation->period, now_ticks);

    if (ended == 0) {
        return 0;
    }
    close_period(reservation);
    reservation->statistics.periods += ended - 1;
    reservation->statistics.late_periods += ended - 1;
    release(reservation, now_ticks);
    refill(reservation);
    return ended;
}

bool reservation_set_limits(struct reservation *reservation, const uint64_t events[RESERVATION_COUNTERS])
{
    struct reservation_parameters changed = reservation->parameters;

    changed.limit_events[0] = events[0];
    changed.limit_events[1] = events[1];
    if (reservation_check(&changed) != RESERVATION_ERROR_NONE) {
        return false;
    }
    reservation->parameters = changed;
    return true;
}

bool reservation_set_limits_now(struct reservation *reservation, const uint64_t events[RESERVATION_COUNTERS],
                                uint64_t now_ticks)
{
    if (!reservation_set_limits(reservation, events)) {
        return false;
    }
    reservation->granted_events[0] = events[0];
    reservation->granted_events[1] = events[1];
    if (reservation->throttled && !reservation_has_nothing_left(reservation)) {
        release(reservation, now_ticks);
    }
    return true;
}

bool reservation_set_grid(struct reservation *reservation, const struct period_grid *grid, uint64_t now_ticks)
{
    if (reservation->period.grid.length_ticks == 0 || !period_length_is_valid(grid->length_ticks) ||
        grid->start_ticks > PERIOD_MAX_TICKS) {
        return false;
    }
    reservation->parameters.grid = *grid;
    if (reservation->begun) {
        period_change_grid(&reservation->period, grid, now_ticks);
    } else {
        reservation->period.grid = *grid;
    }
    return true;
}

uint64_t reservation_throttled_ticks(const struct reservation *reservation, uint64_t now_ticks)
{
    uint64_t current = reservation->throttled ? now_ticks - reservation->throttled_since_ticks : 0;

    return reservation->statistics.throttled_ticks + current;
}
