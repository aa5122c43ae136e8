/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The exact schedulability test of flows under limited-preemption EDF (F4), in steps that cost a few
 * divisions for each task, so that it can run at EL2 and be asked again.
 *
 * Between two neighbouring D' - J' the blocking Q is constant and the demand h(t) = lead + Q + sum DBF grows
 * with t, so that Quick Processor-demand Analysis (Zhang and Burns, IEEE Transactions on Computers 58(9),
 * 2009) holds there: if h(t) <= t, all points from h(t) to t are in order. It goes on below the piece where
 * h(t) is below it.
 */
#ifndef BULKHEAD_CORE_FLOW_TEST_H
#define BULKHEAD_CORE_FLOW_TEST_H

#include "core/flow_load.h"
#include "core/flow_pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

enum flow_verdict {
    FLOW_GOES_ON,     /* ask again */
    FLOW_SCHEDULABLE, /* every packet is notified in time */
    FLOW_OVERLOADED,  /* U' > 1 */
    FLOW_LATE,        /* the demand until `at` is more than that time */
    FLOW_UNDECIDED,   /* U' is so near to 1 that too much would have to be looked at (FLOW_MAX_LONGEST) */
    FLOW_IMPOSSIBLE, /* at no bandwidth up to FLOW_MAX_BYTES_PER_S: `at` is where, 0 if the load alone forbids
                        it */
};

enum flow_test_stage {
    FLOW_TEST_SORT, /* tasks, for the pieces */
    FLOW_TEST_LOAD,
    FLOW_TEST_POINTS,
};

struct flow_test {
    const struct flow_set *set;
    enum flow_verdict verdict;
    uint64_t bytes_per_s;
    uint64_t at;     /* the point that is looked at next, half ns */
    uint64_t demand; /* where FLOW_LATE: at `at`, half ns, rounded up */
    uint64_t points; /* looked at until now */
    uint64_t from;   /* points up to here need no look */
    enum flow_test_stage stage;
    struct flow_load load;
    struct flow_pieces pieces;
};

/* Begins a test at a bandwidth of 1 to FLOW_MAX_BYTES_PER_S. The set must stay as it is. */
void flow_test_begin(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s);

/* The same, and all that comes before the first point: what flow_test_run() does then are points. */
void flow_test_start(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s);

/* Does `steps` steps at most, each of which looks at one point, or comes before the first. */
enum flow_verdict flow_test_run(struct flow_test *test, uint64_t steps);

/* Whether the load, which is not above 1, leaves more to be looked at than FLOW_MAX_LONGEST allows. */
bool flow_test_is_endless(struct flow_test *test);

/* Goes on with the points from `from` to `end`, both excluded, with the rates of the load. For the search. */
void flow_test_look_below(struct flow_test *test, uint64_t end, uint64_t from);

#ifdef __cplusplus
}
#endif

#endif
