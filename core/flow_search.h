/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The smallest bandwidth with which a set of flows passes the test (F4).
 */
#ifndef BULKHEAD_CORE_FLOW_SEARCH_H
#define BULKHEAD_CORE_FLOW_SEARCH_H

#include "core/flow_test.h"

#ifdef __cplusplus
extern "C" {
#endif

/* State of the search, which walks the points of a test. A point that is violated gives a lower bound for the
 * bandwidth; points after it that passed with less bandwidth still pass. Points of the first periods are
 * checked first, because as a rule they need the most bandwidth and the horizon shrinks as the bandwidth
 * grows. */
struct flow_search {
    struct flow_test test; /* if it ends with FLOW_SCHEDULABLE, test.bytes_per_s is the smallest bandwidth */
    bool second;           /* in the second pass, over the points that the first pass has left */
};

/* Starts a search. The set must not change until it has ended. */
void flow_search_start(struct flow_search *search, const struct flow_set *set);

/* Checks at most `points` points. */
enum flow_verdict flow_search_run(struct flow_search *search, uint64_t points);

/* The smallest b with U'(b) <= 1. 0: there is none up to FLOW_MAX_BYTES_PER_S. */
uint64_t flow_search_load(const struct flow_set *set);

#ifdef __cplusplus
}
#endif

#endif
