/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A reservation: how many events a core or VCPU may cause in each period (B1, B3). It holds a budget, a
 * period and what the counters said; it decides when the budget is spent, and keeps statistics. Called
 * through budget.h by whoever owns the counters, on their core, with interrupts masked.
 */
#ifndef BULKHEAD_CORE_RESERVATION_H
#define BULKHEAD_CORE_RESERVATION_H

#include "core/event_counter.h"
#include "core/period.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RESERVATION_COUNTERS   2u
#define RESERVATION_UNLIMITED  UINT64_MAX
#define RESERVATION_MAX_EVENTS (1ull << 62)

/* What the counters count, and against which budget. */
enum reservation_kind {
    RESERVATION_ONE,  /* one counter */
    RESERVATION_EACH, /* two counters (reads, writes; refills, accesses), a budget each; whichever is spent
                         first */
    RESERVATION_SUM,  /* two counters (refills, write-backs), one budget for both together */
    RESERVATION_KIND_COUNT,
};

struct reservation_parameters {
    enum reservation_kind kind;
    uint32_t counter_bits;
    /* RESERVATION_UNLIMITED, or at most RESERVATION_MAX_EVENTS. The second one: of RESERVATION_EACH, else 0.
     */
    uint64_t limit_events[RESERVATION_COUNTERS];
    /* RESERVATION_SUM: with no more than this left, the sum may be overshot by less than this. Else 0. */
    uint64_t slack_events;
    /* Period and its grid. Length 0: no periods; only if nothing is limited. */
    struct period_grid grid;
    bool keep_running; /* for measurements: a spent budget is counted, and stops nothing */
};

enum reservation_error {
    RESERVATION_ERROR_NONE,
    RESERVATION_ERROR_KIND,
    RESERVATION_ERROR_COUNTER,
    RESERVATION_ERROR_LIMIT,
    RESERVATION_ERROR_SLACK,
    RESERVATION_ERROR_PERIOD,
};

struct reservation_statistics {
    uint64_t events; /* all */
    uint64_t periods;
    uint64_t late_periods;      /* that ended together with a later one, at one call */
    uint64_t spent_periods;     /* in which the budget was found spent */
    uint64_t throttled_periods; /* in which it was stopped for that */
    uint64_t throttled_ticks;
    uint64_t overshoot_periods; /* with more events than the budget */
    uint64_t overshoot_events;  /* of all of them; the mean is this by overshoot_periods */
    uint64_t overshoot_max_events;
    uint64_t period_max_events; /* of one period, and of the first budget */
    uint64_t second_events;     /* RESERVATION_EACH: of the second budget, which are in `events`, too */
    uint64_t second_max_events; /* of one period */
};

struct reservation {
    struct reservation_parameters parameters;
    struct period period;
    struct event_counter counters[RESERVATION_COUNTERS];
    uint64_t granted_events[RESERVATION_COUNTERS]; /* in this period */
    uint64_t used_events[RESERVATION_COUNTERS];    /* in this period, against granted_events */
    uint64_t throttled_since_ticks;
    bool begun;     /* was started once: it has a current period, also while it is stopped */
    bool started;   /* and not stopped */
    bool counting;  /* armed, and not yet read back */
    bool spent;     /* was found spent in this period */
    bool throttled; /* must not run */
    struct reservation_statistics statistics;
};

/* Whether the parameters mean something; if not, the first thing that is wrong. */
enum reservation_error reservation_check(const struct reservation_parameters *parameters);

/* Sets up a stopped reservation. The parameters must have passed reservation_check(). */
void reservation_init(struct reservation *reservation, const struct reservation_parameters *parameters);

/* Starts the periods. Again within a period: goes on with what was left, a restart is not a refill. True if a
 * period begins for it. */
bool reservation_start(struct reservation *reservation, uint64_t now_ticks);

/* No events until the next start: it is neither counting nor throttled. Its counters have been read back. */
void reservation_stop(struct reservation *reservation, uint64_t now_ticks);

/* Number of budgets and of counters. */
uint32_t reservation_budgets(const struct reservation *reservation);
uint32_t reservation_counters(const struct reservation *reservation);

/* What is left of a budget; RESERVATION_UNLIMITED if it is. `budget` < reservation_budgets(). */
uint64_t reservation_left(const struct reservation *reservation, uint32_t budget);

/* Events used beyond a budget. */
uint64_t reservation_beyond(const struct reservation *reservation, uint32_t budget);

/* True if some budget has nothing left. */
bool reservation_has_nothing_left(const struct reservation *reservation);

/* From now on the counters count: what to write into them. */
void reservation_arm(struct reservation *reservation, uint64_t preload[RESERVATION_COUNTERS]);

/* The counters stand at these values and count no further. Without effect if they were not armed. */
void reservation_account(struct reservation *reservation, const uint64_t readings[RESERVATION_COUNTERS]);

/* Events that no counter has seen, caused on behalf of it. It is not armed. */
void reservation_charge(struct reservation *reservation, uint64_t events);

/* More or less of the first budget, in this period only. */
void reservation_grant(struct reservation *reservation, uint64_t events);
void reservation_withhold(struct reservation *reservation, uint64_t events);

/* The budget is spent: throttled until the period ends, unless it is to keep running. */
void reservation_throttle(struct reservation *reservation, uint64_t now_ticks);

/* Recharges if the period has ended, whether it is counting or not (events until now must be accounted).
 * Returns how many periods have ended. */
uint64_t reservation_recharge(struct reservation *reservation, uint64_t now_ticks);

/* Changes the budgets: from the next recharge on, or at once, which ends a throttling if something is left.
 * False, and nothing changed, if reservation_check() would refuse them. */
bool reservation_set_limits(struct reservation *reservation, const uint64_t events[RESERVATION_COUNTERS]);
bool reservation_set_limits_now(struct reservation *reservation, const uint64_t events[RESERVATION_COUNTERS],
                                uint64_t now_ticks);

/* Changes the grid (period_change_grid()). A period that has ended must have been recharged before. False if
 * the length is invalid, or if there are no periods. */
bool reservation_set_grid(struct reservation *reservation, const struct period_grid *grid,
                          uint64_t now_ticks);

/* Ticks that it was throttled, up to now. */
uint64_t reservation_throttled_ticks(const struct reservation *reservation, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
