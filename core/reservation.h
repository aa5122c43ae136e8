/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A reservation: how many events a core or VCPU may cause in each period (B1, B3). It holds a budget, a
 * period and the accounted counter readings; it decides when the budget is spent, and keeps statistics.
 * Called through budget.h by the owner of the counters, on their core, with interrupts masked.
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
/* The slack of a sum is at most this part of the budget. More would save few interrupts, and admission counts
 * budgets alone. */
#define RESERVATION_SLACK_PART 32u

/* Number of counters, and the budgets that they count against. */
enum reservation_kind {
    RESERVATION_ONE, /* one counter, one budget */
    /* two counters (reads, writes; refills, accesses) with a budget each; spent when either budget is
     * spent */
    RESERVATION_EACH,
    RESERVATION_SUM, /* two counters (refills, write-backs), one budget for their sum */
    RESERVATION_KIND_COUNT,
};

struct reservation_parameters {
    enum reservation_kind kind;
    uint32_t counter_bits;
    /* RESERVATION_UNLIMITED, or at most RESERVATION_MAX_EVENTS. The second limit is for RESERVATION_EACH,
     * otherwise 0. */
    uint64_t limit_events[RESERVATION_COUNTERS];
    /* RESERVATION_SUM: when at most this many events are left, the sum may be overshot by fewer than this
     * many events. Otherwise 0. If a regulator lowers the budget, at most reservation_most_slack() of
     * the lower one. */
    uint64_t slack_events;
    /* Grid of the periods. Length 0: no periods; only allowed if nothing is limited. */
    struct period_grid grid;
    bool keep_running; /* for measurements: a spent budget is counted, but throttles nothing */
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
    uint64_t events; /* all events */
    uint64_t periods;
    uint64_t late_periods;      /* periods that ended in the same call as a later one */
    uint64_t spent_periods;     /* periods in which the budget was found spent */
    uint64_t throttled_periods; /* periods in which it was throttled */
    uint64_t throttled_ticks;
    uint64_t overshoot_periods; /* periods with more events than the budget */
    /* events beyond the budget in all periods; divide by overshoot_periods for the mean */
    uint64_t overshoot_events;
    uint64_t overshoot_max_events;
    uint64_t period_max_events; /* most events of one period, of the first budget */
    uint64_t second_events;     /* RESERVATION_EACH: events of the second budget, also included in `events` */
    uint64_t second_max_events; /* most events of one period, of the second budget */
};

struct reservation {
    struct reservation_parameters parameters;
    struct period period;
    struct event_counter counters[RESERVATION_COUNTERS];
    uint64_t granted_events[RESERVATION_COUNTERS]; /* in this period */
    uint64_t used_events[RESERVATION_COUNTERS];    /* in this period, against granted_events */
    uint64_t throttled_since_ticks;
    bool begun;     /* was started at least once: has a current period, also while stopped */
    bool started;   /* started and not stopped */
    bool counting;  /* counters are armed and not yet read back */
    bool spent;     /* the budget was found spent in this period */
    bool throttled; /* must not run */
    struct reservation_statistics statistics;
};

/* The most slack, in events, of a sum whose budget is so many events. A slack of 1 is exact. */
static inline uint64_t reservation_most_slack(uint64_t budget_events)
{
    uint64_t part = budget_events / RESERVATION_SLACK_PART;

    return part != 0 ? part : 1;
}

/* Checks parameters: RESERVATION_ERROR_NONE, or the first error. */
enum reservation_error reservation_check(const struct reservation_parameters *parameters);

/* Sets up a stopped reservation. The parameters must have passed reservation_check(). */
void reservation_init(struct reservation *reservation, const struct reservation_parameters *parameters);

/* Starts the periods. If restarted within the same period, it continues with what was left: a restart is not
 * a refill. Returns true if a new period begins for it. */
bool reservation_start(struct reservation *reservation, uint64_t now_ticks);

/* Stops: no events are counted until the next start; it is neither counting nor throttled. Its counters must
 * have been read back. The maxima include the period in which it stops; the other statistics do when the
 * period ends. */
void reservation_stop(struct reservation *reservation, uint64_t now_ticks);

/* Number of budgets and of counters. */
uint32_t reservation_budgets(const struct reservation *reservation);
uint32_t reservation_counters(const struct reservation *reservation);

/* Events left of budget `budget` < reservation_budgets(); RESERVATION_UNLIMITED if it is not limited. */
uint64_t reservation_left(const struct reservation *reservation, uint32_t budget);

/* Events used beyond the budget. */
uint64_t reservation_beyond(const struct reservation *reservation, uint32_t budget);

/* Whether any budget has nothing left. */
bool reservation_has_nothing_left(const struct reservation *reservation);

/* Starts counting: returns in `preload` the values to write into the counters. */
void reservation_arm(struct reservation *reservation, uint64_t preload[RESERVATION_COUNTERS]);

/* Accounts the events up to these readings of the counters, which have been stopped. Does nothing if they
 * were not armed. */
void reservation_account(struct reservation *reservation, const uint64_t readings[RESERVATION_COUNTERS]);

/* Charges events that were caused on its behalf but not counted by a counter. The counters must not be
 * armed. */
void reservation_charge(struct reservation *reservation, uint64_t events);

/* Increases or reduces the first budget, in this period only. */
void reservation_grant(struct reservation *reservation, uint64_t events);
void reservation_withhold(struct reservation *reservation, uint64_t events);

/* The budget is spent: throttles until the period ends, unless `keep_running` is set. */
void reservation_throttle(struct reservation *reservation, uint64_t now_ticks);

/* Refills if the period has ended, whether it is counting or not (events until now must be accounted).
 * Returns how many periods have ended. */
uint64_t reservation_recharge(struct reservation *reservation, uint64_t now_ticks);

/* Changes the limits: from the next refill on, or at once, which ends throttling if some of the budget is
 * left. Returns false, with nothing changed, if reservation_check() would refuse them. */
bool reservation_set_limits(struct reservation *reservation, const uint64_t events[RESERVATION_COUNTERS]);
bool reservation_set_limits_now(struct reservation *reservation, const uint64_t events[RESERVATION_COUNTERS],
                                uint64_t now_ticks);

/* Changes the grid (period_change_grid()). If the period has ended, reservation_recharge() must have been
 * called before. Returns false if the length is invalid or there are no periods. */
bool reservation_set_grid(struct reservation *reservation, const struct period_grid *grid,
                          uint64_t now_ticks);

/* Total time of throttling in ticks, up to now. */
uint64_t reservation_throttled_ticks(const struct reservation *reservation, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
