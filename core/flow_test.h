/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The exact schedulability test of flows under limited-preemption EDF, and the smallest bandwidth that passes
 * it (F4). Both work in pieces of a bounded number of points, so that they can run at EL2 and be asked again.
 *
 * Between two neighbouring D' - J' the blocking Q is constant and the demand h(t) = Q + sum DBF grows with t,
 * so that Quick Processor-demand Analysis (Zhang and Burns, IEEE Transactions on Computers 58(9), 2009) holds
 * there: if h(t) <= t, all points from h(t) to t are in order. It goes on below the piece where h(t) is below
 * it.
 */
#ifndef BULKHEAD_CORE_FLOW_TEST_H
#define BULKHEAD_CORE_FLOW_TEST_H

#include "core/flow.h"
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

struct flow_test {
    const struct flow_set *set;
    enum flow_verdict verdict;
    uint64_t bytes_per_s;
    uint64_t at;     /* the point that is looked at next, half ns */
    uint64_t demand; /* where FLOW_LATE: at `at`, half ns, rounded up */
    uint64_t points; /* looked at until now */
    uint64_t done;   /* of a search: up to here its first pass has looked; 0 in that */
    bool search;     /* of the smallest bandwidth */
    struct flow_pieces pieces;
};

/* Begins a test at a bandwidth of 1 to FLOW_MAX_BYTES_PER_S. The set must stay as it is. */
void flow_test_start(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s);

/* Begins a search of the smallest bandwidth with which a test ends so: where it ends with FLOW_SCHEDULABLE,
 * `bytes_per_s` is that. A point that is violated says how much it needs at least; those above, which were in
 * order with less, stay so. The points of the first periods, which need most as a rule, come first, because
 * the horizon falls with the bandwidth. */
void flow_test_start_search(struct flow_test *test, const struct flow_set *set);

/* Looks at `points` points at most. */
enum flow_verdict flow_test_run(struct flow_test *test, uint64_t points);

#ifdef __cplusplus
}
#endif

#endif
