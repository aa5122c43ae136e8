/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The exact schedulability test of flows under limited-preemption EDF (F4), in steps of a few divisions for
 * each task, so that a caller can stop it. Within a step there are pauses (core/flow_pause.h).
 *
 * Between two neighbouring D' - J' the blocking Q is constant and the demand h(t) = lead + Q + sum DBF grows
 * with t, so that Quick Processor-demand Analysis (Zhang and Burns, IEEE Transactions on Computers 58(9),
 * 2009) applies there: if h(t) <= t, all points from h(t) to t pass. If h(t) is below the piece, the test
 * continues below the piece.
 */
#ifndef BULKHEAD_CORE_FLOW_TEST_H
#define BULKHEAD_CORE_FLOW_TEST_H

#include "core/flow_load.h"
#include "core/flow_pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

enum flow_verdict {
    FLOW_GOES_ON,     /* not finished; call again */
    FLOW_SCHEDULABLE, /* every packet is notified before its deadline */
    FLOW_OVERLOADED,  /* U' > 1 */
    FLOW_LATE,        /* the demand until `at` exceeds `at` */
    FLOW_UNDECIDED,   /* U' is so near to 1 that the horizon exceeds FLOW_MAX_LONGEST */
    /* no bandwidth up to FLOW_MAX_BYTES_PER_S is enough: `at` is the violated point, 0 if the load alone is
     * too high */
    FLOW_IMPOSSIBLE,
};

enum flow_test_stage {
    FLOW_TEST_SORT, /* sorts the tasks for the pieces */
    FLOW_TEST_LOAD,
    FLOW_TEST_POINTS,
};

struct flow_test {
    const struct flow_set *set;
    enum flow_verdict verdict;
    uint64_t bytes_per_s;
    uint64_t at;     /* the point that is checked next, half ns */
    uint64_t demand; /* on FLOW_LATE: the demand at `at`, half ns, rounded up */
    uint64_t points; /* points checked so far */
    uint64_t from;   /* points up to this time are not checked */
    enum flow_test_stage stage;
    struct flow_load load;
    struct flow_pieces pieces;
};

/* Begins a test at a bandwidth of 1 to FLOW_MAX_BYTES_PER_S bytes/s. The set must not change until it has
 * ended. */
void flow_test_begin(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s);

/* Begins a test and does all steps before the first point, so that each step of flow_test_run() checks a
 * point. */
void flow_test_start(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s);

/* Does at most `steps` steps, each of which checks one point or is a preparation before the first point. */
enum flow_verdict flow_test_run(struct flow_test *test, uint64_t steps);

/* Whether the horizon of the load, for which U' <= 1, exceeds FLOW_MAX_LONGEST. */
bool flow_test_is_endless(struct flow_test *test);

/* Continues with the points between `from` and `end`, both excluded, at the rates of the load. For the
 * search. */
void flow_test_look_below(struct flow_test *test, uint64_t end, uint64_t from);

#ifdef __cplusplus
}
#endif

#endif
