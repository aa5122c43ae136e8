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

/* The walk of a test. A point that is violated says how much bandwidth it needs at least; those above, which
 * were in order with less, stay so. The points of the first periods, which need most as a rule, come first,
 * because the horizon falls with the bandwidth. */
struct flow_search {
    struct flow_test test; /* where it ends with FLOW_SCHEDULABLE, its bandwidth is the smallest */
    bool second;           /* pass: of what the first has left */
};

/* The set must stay as it is. */
void flow_search_start(struct flow_search *search, const struct flow_set *set);

/* Looks at `points` points at most. */
enum flow_verdict flow_search_run(struct flow_search *search, uint64_t points);

/* The smallest b with U'(b) <= 1. 0: there is none up to FLOW_MAX_BYTES_PER_S. */
uint64_t flow_search_load(const struct flow_set *set);

#ifdef __cplusplus
}
#endif

#endif
