/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Regulators of all cores' budgets (B5-B8, B11): by utilization of the memory, by its traffic, by the delay
 * of other cores. After each interval one sample goes in, and a budget for each core comes out. Called by one
 * core at a time: that which completes an interval (regulator_exchange.h).
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
#define REGULATOR_FRACTION_BITS       16u        /* of G */
#define REGULATOR_DEFAULT_THRESHOLD   52429u     /* 80 % */
#define REGULATOR_BANDWIDTH_STEP      3277u      /* 0.05, of REGULATOR_BANDWIDTH */
#define REGULATOR_MAX_INTERVAL_EVENTS UINT32_MAX /* accesses of a core; more are taken for that */
#define REGULATOR_MAX_HORIZON         65535u     /* intervals */

/* Each is a file of its own, core/regulator_NAME.c, behind regulator_policy.h. */
enum regulator_policy_number {
    REGULATOR_STATIC,      /* budgets stay as they are */
    REGULATOR_UTILIZATION, /* `dynamic` */
    REGULATOR_BANDWIDTH,   /* `dynamic-bandwidth` */
    REGULATOR_DELAY,       /* `dynamic-delay` */
    REGULATOR_TURNS,       /* `dynamic-turns` */
    REGULATOR_POLICY_COUNT,
};

/* What happens to G below the threshold while nobody was throttled. */
enum regulator_hold {
    REGULATOR_HOLD_KEEP,
    REGULATOR_HOLD_DECREASE, /* as published variants print it */
    REGULATOR_HOLD_COUNT,
};

struct regulator_parameters {
    uint32_t policy; /* enum regulator_policy_number */
    enum regulator_hold hold;
    /* U_T in 1/65536, 1 ... UTILIZATION_MAX. Of REGULATOR_DELAY the share of time, below 1, by which the
     * others may be delayed. */
    uint32_t threshold;
    uint32_t step; /* d in 1/65536, below 1; 0: adaptive, REGULATOR_BANDWIDTH_STEP */
    /* B_T per interval, 1 ... TRAFFIC_MAX_EVENTS. Of REGULATOR_DELAY the fewest events that a regulated core
     * moves in an interval in which it delays the others all the time. */
    uint64_t bandwidth_threshold_events;
    uint64_t interval_ticks;
    uint32_t horizon_intervals; /* of REGULATOR_DELAY, 1 ... REGULATOR_MAX_HORIZON: what it saves up for */
    /* Of REGULATOR_DELAY, by regulated core: by how much an event of the other cores is delayed at most while
     * this one moves all that it can, in 2^-32 of an interval. */
    uint32_t event_delays[REGULATOR_MAX_CORES];
    uint32_t regulated; /* mask of the cores that share G; the others have what `budget_events` says */
    /* Per interval: initial budgets of regulated cores, at most REGULATOR_MAX_EVENTS together; limits of
     * others, REGULATOR_UNLIMITED or at most REGULATOR_MAX_EVENTS. */
    uint64_t budget_events[REGULATOR_MAX_CORES];
    uint64_t floor_events;      /* the least for a regulated core, at least 1 */
    uint64_t ceiling_events;    /* of G, at most REGULATOR_MAX_EVENTS */
    uint64_t saturation_events; /* 0, or: limits of the others must stay below, and G with them (B7) */
    bool store_samples;
};

enum regulator_error {
    REGULATOR_ERROR_NONE,
    REGULATOR_ERROR_POLICY,
    REGULATOR_ERROR_HOLD,
    REGULATOR_ERROR_THRESHOLD,
    REGULATOR_ERROR_STEP,
    REGULATOR_ERROR_INTERVAL,
    REGULATOR_ERROR_CORES,      /* none is regulated, or one that cannot be */
    REGULATOR_ERROR_BUDGET,     /* out of range */
    REGULATOR_ERROR_FLOOR,      /* 0, or above an initial budget */
    REGULATOR_ERROR_CEILING,    /* out of range, or below the initial budgets */
    REGULATOR_ERROR_SATURATION, /* reached by the limits of cores that are not regulated */
    REGULATOR_ERROR_TRAFFIC,    /* bandwidth_threshold_events */
    REGULATOR_ERROR_HORIZON,
};

/* What was seen in an interval. */
struct regulator_sample {
    uint64_t number; /* of the interval */
    bool has_utilization;
    uint32_t utilization;                   /* U in 1/65536 */
    uint64_t traffic_events;                /* of all masters, where the policy's load is traffic */
    uint64_t elapsed_ticks;                 /* in which that was */
    uint32_t throttled;                     /* mask of the cores that ran out of their budgets */
    uint32_t accesses[REGULATOR_MAX_CORES]; /* m_i */
};

struct regulator_statistics {
    uint64_t samples;
    uint64_t repeated; /* samples of an interval that was done already */
    uint64_t missed;   /* intervals without a sample */
    uint64_t unusable; /* samples that said nothing of the load */
    uint64_t changes;  /* of parameters */
};

struct regulator {
    struct regulator_parameters parameters; /* in force */
    struct regulator_parameters staged;     /* in force from the next step on, if */
    bool has_staged;
    bool has_sample;    /* the last step was not the first one */
    bool has_number;    /* `number` is of a sample */
    uint64_t number;    /* of the last sample's interval */
    uint64_t gap;       /* intervals before that without a sample */
    uint64_t global;    /* G in 1/65536 event */
    uint32_t last_load; /* U, traffic by B_T, or delay, of the last sample that had it */
    int64_t account;    /* of REGULATOR_DELAY: delay that is allowed yet, in 1/65536 interval */
    uint64_t budgets[REGULATOR_MAX_CORES]; /* b_i */
    struct regulator_statistics statistics;
};

/* An `event_delays` of a delay in ps (below 2^32) and an interval of at least 1 ns. */
static inline uint32_t regulator_event_delay(uint64_t delay_ps, uint64_t interval_ps)
{
    uint64_t part = (delay_ps << 32) / interval_ps;

    return part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
}

/* Whether parameters are good; if not, the first thing that is wrong. */
enum regulator_error regulator_check(const struct regulator_parameters *parameters);

/* Highest value of G that good parameters allow. */
uint64_t regulator_ceiling(const struct regulator_parameters *parameters);

/* Starts with the initial budgets. The parameters must have passed regulator_check(). */
void regulator_init(struct regulator *regulator, const struct regulator_parameters *parameters);

/* Replaces the parameters from the next step on; those of an earlier call that wait are forgotten. With an
 * error, nothing changes. */
enum regulator_error regulator_change(struct regulator *regulator,
                                      const struct regulator_parameters *parameters);

/* The parameters that were asked for last: what a change of one of them starts from. */
const struct regulator_parameters *regulator_latest(const struct regulator *regulator);

/* One interval is over: regulator->budgets are those of the next one. False, and nothing changed but a count,
 * if the sample is of an interval that is done. */
bool regulator_step(struct regulator *regulator, const struct regulator_sample *sample);

#ifdef __cplusplus
}
#endif

#endif
