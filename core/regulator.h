/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Regulators of the budgets of all cores (B5-B8, B11): by utilization of the memory, by its traffic, or by
 * the delay of other cores. After each interval the regulator takes one sample and computes a budget for each
 * core. Called by one core at a time: the one that completes an interval (regulator_exchange.h).
 */
#ifndef BULKHEAD_CORE_REGULATOR_H
#define BULKHEAD_CORE_REGULATOR_H

#include "core/period.h"
#include "core/regulator_share.h"
#include "core/utilization.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REGULATOR_UNLIMITED           UINT64_MAX /* RESERVATION_UNLIMITED */
#define REGULATOR_FRACTION_BITS       16u        /* fraction bits of G */
#define REGULATOR_DEFAULT_THRESHOLD   52429u     /* 80 % */
#define REGULATOR_BANDWIDTH_STEP      3277u      /* 0.05, of REGULATOR_BANDWIDTH */
/* largest number of accesses of a core; more are counted as this */
#define REGULATOR_MAX_INTERVAL_EVENTS UINT32_MAX
#define REGULATOR_MAX_HORIZON         65535u /* intervals */
#define REGULATOR_PHASE_COUNT         10u    /* of REGULATOR_PHASES: the lowest is below 1/256 of B_T */

/* Policies. Each is implemented in a file of its own, core/regulator_NAME.c, behind regulator_policy.h. */
enum regulator_policy_number {
    REGULATOR_STATIC,      /* budgets stay as they are */
    REGULATOR_UTILIZATION, /* `dynamic` */
    REGULATOR_BANDWIDTH,   /* `dynamic-bandwidth` */
    REGULATOR_DELAY,       /* `dynamic-delay` */
    REGULATOR_TURNS,       /* `dynamic-turns` */
    REGULATOR_PHASES,      /* `dynamic-phases` */
    REGULATOR_POLICY_COUNT,
};

/* What happens to G if the load is below the threshold and no core was throttled. */
enum regulator_hold {
    REGULATOR_HOLD_KEEP,
    REGULATOR_HOLD_DECREASE, /* as in published variants */
    REGULATOR_HOLD_COUNT,
};

struct regulator_parameters {
    uint32_t policy; /* enum regulator_policy_number */
    enum regulator_hold hold;
    /* U_T in 1/65536, 1 ... UTILIZATION_MAX. For REGULATOR_DELAY: the share of time, below 1, by which the
     * other cores may be delayed. */
    uint32_t threshold;
    uint32_t step; /* d in 1/65536, below 1; 0: adaptive, REGULATOR_BANDWIDTH_STEP */
    /* B_T per interval, 1 ... TRAFFIC_MAX_EVENTS. For REGULATOR_DELAY: the smallest number of events that a
     * regulated core moves in an interval in which it delays the others all the time. */
    uint64_t bandwidth_threshold_events;
    uint64_t interval_ticks;
    /* for REGULATOR_DELAY, 1 ... REGULATOR_MAX_HORIZON: for how long unused delay is saved up */
    uint32_t horizon_intervals;
    /* For REGULATOR_DELAY, for each regulated core, not 0: the longest delay of an event of the other cores
     * while this core moves as many events as it can, in 2^-32 of an interval. */
    uint32_t event_delays[REGULATOR_MAX_CORES];
    uint32_t regulated; /* mask of the cores that share G; the others keep their `budget_events` */
    /* Events per interval. Regulated cores: initial budgets, together at most REGULATOR_MAX_EVENTS. Other
     * cores: limits, REGULATOR_UNLIMITED or at most REGULATOR_MAX_EVENTS. */
    uint64_t budget_events[REGULATOR_MAX_CORES];
    uint64_t floor_events;   /* smallest budget of a regulated core, at least 1 */
    uint64_t ceiling_events; /* largest value of G, at most REGULATOR_MAX_EVENTS */
    /* 0: none; else the limits of the other cores must stay below it, and G together with them (B7) */
    uint64_t saturation_events;
    bool store_samples;
};

enum regulator_error {
    REGULATOR_ERROR_NONE,
    REGULATOR_ERROR_POLICY,
    REGULATOR_ERROR_HOLD,
    REGULATOR_ERROR_THRESHOLD,
    REGULATOR_ERROR_STEP,
    REGULATOR_ERROR_INTERVAL,
    REGULATOR_ERROR_CORES,      /* no core is regulated, or one that cannot be */
    REGULATOR_ERROR_BUDGET,     /* out of range */
    REGULATOR_ERROR_FLOOR,      /* 0, or above an initial budget */
    REGULATOR_ERROR_CEILING,    /* out of range, or below the initial budgets */
    REGULATOR_ERROR_SATURATION, /* the limits of cores that are not regulated reach it */
    REGULATOR_ERROR_TRAFFIC,    /* bandwidth_threshold_events */
    REGULATOR_ERROR_HORIZON,
    REGULATOR_ERROR_DELAY, /* a regulated core delays nobody, so it would never be charged */
};

/* Measurements of one interval. */
struct regulator_sample {
    uint64_t number; /* number of the interval */
    bool has_utilization;
    uint32_t utilization;                   /* U in 1/65536 */
    uint64_t traffic_events;                /* traffic of all masters, if the policy's load is traffic */
    uint64_t elapsed_ticks;                 /* time in which the traffic was counted */
    uint32_t throttled;                     /* mask of the cores that have used up their budgets */
    uint32_t accesses[REGULATOR_MAX_CORES]; /* m_i */
};

struct regulator_statistics {
    uint64_t samples;
    uint64_t repeated; /* samples of an interval that was already done */
    uint64_t missed;   /* intervals without a sample */
    uint64_t unusable; /* samples without the load that the policy needs */
    uint64_t changes;  /* changes of parameters */
};

struct regulator {
    struct regulator_parameters parameters; /* in force */
    struct regulator_parameters staged;     /* in force from the next step on, if `has_staged` */
    bool has_staged;
    bool has_sample;    /* there was a sample before */
    bool has_number;    /* `number` is valid */
    uint64_t number;    /* number of the last sample's interval */
    uint64_t gap;       /* intervals without a sample before the last one */
    uint64_t global;    /* G in 1/65536 event */
    uint32_t last_load; /* load of the last sample that had it: U, traffic as a fraction of B_T, or delay */
    int64_t account;    /* for REGULATOR_DELAY: delay that is still allowed, in 1/65536 interval */
    uint32_t phase;     /* for REGULATOR_PHASES: phase of the last interval */
    uint64_t phase_global[REGULATOR_PHASE_COUNT]; /* for REGULATOR_PHASES: G of each phase */
    uint64_t budgets[REGULATOR_MAX_CORES];        /* b_i */
    struct regulator_statistics statistics;
};

/* Computes a value of `event_delays`, rounded up, from a delay in ps (below 2^32) and an interval in ps of at
 * least 1 ns. */
static inline uint32_t regulator_event_delay(uint64_t delay_ps, uint64_t interval_ps)
{
    uint64_t shifted = delay_ps << 32;
    uint64_t part = shifted / interval_ps + (shifted % interval_ps != 0 ? 1 : 0);

    return part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
}

/* Checks parameters: REGULATOR_ERROR_NONE, or the first error. */
enum regulator_error regulator_check(const struct regulator_parameters *parameters);

/* The highest value of G that valid parameters allow. */
uint64_t regulator_ceiling(const struct regulator_parameters *parameters);

/* Initializes with the initial budgets. The parameters must have passed regulator_check(). */
void regulator_init(struct regulator *regulator, const struct regulator_parameters *parameters);

/* Replaces the parameters from the next step on; staged parameters of an earlier call are dropped. On an
 * error, nothing changes. */
enum regulator_error regulator_change(struct regulator *regulator,
                                      const struct regulator_parameters *parameters);

/* The parameters that were requested last: the basis for a change of one of them. */
const struct regulator_parameters *regulator_latest(const struct regulator *regulator);

/* Processes the sample of an interval that is over: regulator->budgets become those of the next one. Returns
 * false if the sample is of an interval that is already done; then nothing but a counter changes. */
bool regulator_step(struct regulator *regulator, const struct regulator_sample *sample);

/* What the policy carries from one interval to the next, for samples. REGULATOR_DELAY: the delay in its
 * account in 1/REGULATOR_CARRIED_ONE interval, negative if overdrawn. REGULATOR_PHASES: the number of the
 * others' phase, below REGULATOR_PHASE_COUNT. Other policies: 0. */
#define REGULATOR_CARRIED_ONE 1024
int32_t regulator_carried(const struct regulator *regulator);

#ifdef __cplusplus
}
#endif

#endif
