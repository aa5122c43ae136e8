/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * U'(b) against 1, exactly, and how long the demand of a set has to be looked at (F4).
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

/* How far demand is looked at, in times of the longest P' or D' - J' of a set. T* grows without bound where
 * U' comes near to 1; a set that needs more than this is refused, which costs a user no more than 1/65536 of
 * the broker's time. */
#define FLOW_MAX_LONGEST (1ull << 16)

#define FLOW_LOAD_SLACK_BITS 16u

enum flow_load_stage {
    FLOW_LOAD_WHOLE,    /* quotients */
    FLOW_LOAD_DIGITS,   /* what they leave */
    FLOW_LOAD_BOUND,    /* the verdict is there; how long the set can be busy */
    FLOW_LOAD_MULTIPLE, /* least common multiple of the periods */
    FLOW_LOAD_DONE,
};

/* U'(b) and T*(b) in steps, each of which costs a few divisions for each task at most. */
struct flow_load {
    const struct flow_set *set;
    uint64_t bytes_per_s;
    enum flow_load_verdict verdict; /* when it is done, as the next two */
    uint64_t horizon; /* where U' <= 1: T*(b), or a little more: demand needs to be looked at only before.
                         FLOW_MAX_HORIZON: none that is short enough is known */
    uint64_t quotient[FLOW_MAX]; /* of a task: U'_i(b) b in bytes/s, rounded down */
    uint64_t remainder[FLOW_MAX];
    bool has_rest[FLOW_MAX]; /* the quotient was rounded */
    enum flow_load_stage stage;
    uint32_t place; /* digits, or tasks, until now */
    wide_t left;    /* b less what was summed up, in units of the last digit */
    uint64_t slack; /* b - sum(a_i / P_i), in bytes/s / 2^FLOW_LOAD_SLACK_BITS, rounded down */
    uint64_t limit; /* of a horizon that is short enough */
    uint64_t bound; /* of this one */
};

/* Begins, for 1 <= b <= FLOW_MAX_BYTES_PER_S. The set must stay as it is. */
void flow_load_start(struct flow_load *load, const struct flow_set *set, uint64_t bytes_per_s);

/* Whether it is done. */
bool flow_load_step(struct flow_load *load);

/* All of it. */
enum flow_load_verdict flow_load_all(struct flow_load *load, const struct flow_set *set,
                                     uint64_t bytes_per_s);

/* U'_i(b) b of a task, in bytes/s, rounded up; where U' <= 1. */
static inline uint64_t flow_load_rate(const struct flow_load *load, uint32_t task)
{
    return load->quotient[task] + (load->has_rest[task] ? 1 : 0);
}

#ifdef __cplusplus
}
#endif

#endif
