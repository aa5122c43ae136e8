/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Admission of a flow at run time (F6). The flow is admitted if the set of flows with it passes the test that
 * admits a system, at the broker's current rate. Each test builds the set anew: flow_admission_init(), then
 * flow_admission_take() for each flow that exists, flow_admission_begin() for the new one, and
 * flow_test_run() on `test` until there is a verdict.
 */
#ifndef BULKHEAD_CORE_FLOW_ADMISSION_H
#define BULKHEAD_CORE_FLOW_ADMISSION_H

#include "core/flow_test.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_ADMISSION_FLOWS (FLOW_MAX / FLOW_TASKS)

/* A flow, or one direction of a bidirectional flow; the other direction is a second flow_declared. */
struct flow_declared {
    struct flow data;
    uint32_t receiver;
    uint64_t other_way_ns; /* period of the other direction; 0: there is none (flow_with_control()) */
};

struct flow_admission {
    struct flow_costs costs;
    uint32_t senders; /* domains with a queue */
    uint64_t chunk_bytes;
    uint64_t run_bytes; /* size of contiguous pieces of memory, as in flow_most_transfers() */
    uint64_t bytes_per_s;
    uint32_t count; /* flows, including the one under test */
    uint32_t task_count;
    uint32_t names[FLOW_MAX];    /* name of each task's flow, as callers know it */
    struct flow tasks[FLOW_MAX]; /* tasks of all flows (flow_with_control()), in any order */
    struct flow_set set;
    struct flow_test test;
};

/* Initializes without flows. */
void flow_admission_init(struct flow_admission *admission, const struct flow_costs *costs, uint32_t senders,
                         uint64_t chunk_bytes, uint64_t run_bytes, uint64_t bytes_per_s);

/* Adds a flow that was admitted elsewhere. There must be room, and no flow of this name. If the flow does not
 * state its transfers per packet, the maximum is assumed for a single-threaded broker (flow_transfers.h). */
void flow_admission_take(struct flow_admission *admission, uint32_t name, const struct flow_declared *flow);

/* Begins to test the set with one more flow. On a problem, `*culprit` is the name of the flow that has it:
 * the new one, or one whose deadline cannot be kept beside the new one. */
enum flow_problem flow_admission_begin(struct flow_admission *admission, uint32_t name,
                                       const struct flow_declared *flow, uint32_t *culprit);

#ifdef __cplusplus
}
#endif

#endif
