/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Compares U'(b) with 1, exactly, and computes up to which time the demand of a set has to be checked (F4).
 */
#ifndef BULKHEAD_CORE_FLOW_LOAD_H
#define BULKHEAD_CORE_FLOW_LOAD_H

#include "core/flow.h"
#include "core/wide.h"

#ifdef __cplusplus
extern "C" {
#endif

enum flow_load_verdict {
    FLOW_LOAD_BELOW, /* U' < 1 */
    FLOW_LOAD_FULL,  /* U' = 1 */
    FLOW_LOAD_OVER,  /* U' > 1 */
};

#define FLOW_MAX_HORIZON (1ull << 61) /* half ns: 36 years */

/* Longest horizon for checking the demand, as a multiple of the longest P' or D' - J' of a set. T* grows
 * without bound as U' approaches 1; a set that needs a longer horizon is refused, which costs a user at most
 * 1/65536 of the broker's time. */
#define FLOW_MAX_LONGEST (1ull << 16)

#define FLOW_LOAD_SLACK_BITS 16u

enum flow_load_stage {
    FLOW_LOAD_WHOLE,    /* sum up quotients */
    FLOW_LOAD_DIGITS,   /* sum up the digits of the remainders */
    FLOW_LOAD_BOUND,    /* the verdict is known; bound the time for which the set can be busy */
    FLOW_LOAD_MULTIPLE, /* compute the least common multiple of the periods */
    FLOW_LOAD_DONE,
};

/* Computes U'(b) and T*(b) in steps, each of at most a few divisions for each task. */
struct flow_load {
    const struct flow_set *set;
    uint64_t bytes_per_s;
    enum flow_load_verdict verdict; /* valid when done, as the next two fields */
    /* if U' <= 1: T*(b) or a little more; only times before it need a check. FLOW_MAX_HORIZON: no horizon
     * that is short enough is known */
    uint64_t horizon;
    uint64_t quotient[FLOW_MAX]; /* for each task: U'_i(b) b in bytes/s, rounded down */
    uint64_t remainder[FLOW_MAX];
    bool has_rest[FLOW_MAX]; /* the quotient was rounded */
    enum flow_load_stage stage;
    uint32_t place; /* digits or tasks processed so far */
    wide_t left;    /* b minus the sum so far, in units of the last digit */
    uint64_t slack; /* b - sum(a_i / P_i), in bytes/s / 2^FLOW_LOAD_SLACK_BITS, rounded down */
    uint64_t limit; /* longest horizon that is accepted */
    uint64_t bound; /* bound of the horizon of this set */
};

/* Starts the computation for 1 <= b <= FLOW_MAX_BYTES_PER_S. The set must not change until it is done. */
void flow_load_start(struct flow_load *load, const struct flow_set *set, uint64_t bytes_per_s);

/* Does one step. Returns true when done. */
bool flow_load_step(struct flow_load *load);

/* Does all steps at once. */
enum flow_load_verdict flow_load_all(struct flow_load *load, const struct flow_set *set,
                                     uint64_t bytes_per_s);

/* U'_i(b) b of a task in bytes/s, rounded up. Only valid if U' <= 1. */
static inline uint64_t flow_load_rate(const struct flow_load *load, uint32_t task)
{
    return load->quotient[task] + (load->has_rest[task] ? 1 : 0);
}

#ifdef __cplusplus
}
#endif

#endif
