/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Flows that come and go while a system runs (F6): one is admitted if the set with it passes the same test
 * that admits a system, at the broker's rate as it is. One at a time is tested, in steps, so that nobody is
 * held up. The caller serializes.
 */
#ifndef BULKHEAD_CORE_FLOW_ADMISSION_H
#define BULKHEAD_CORE_FLOW_ADMISSION_H

#include "core/flow_test.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_ADMISSION_FLOWS (FLOW_MAX / FLOW_TASKS)

/* A flow, or one direction of a flow that has both: for its partner another one is taken. */
struct flow_declared {
    struct flow data;
    uint32_t receiver;
    uint64_t other_way_ns; /* period of the other direction, 0: there is none (flow_with_control()) */
};

struct flow_admission {
    struct flow_costs costs;
    uint32_t senders; /* domains with a queue */
    uint64_t chunk_bytes;
    uint64_t run_bytes; /* contiguous pieces of memory, of flow_most_transfers() */
    uint64_t bytes_per_s;
    uint32_t count;  /* flows, with the one that is tested */
    bool testing;    /* whether there is one, */
    uint32_t tested; /* and its name */
    uint32_t task_count;
    uint32_t names[FLOW_MAX];    /* of each task's flow, by which callers know it */
    struct flow tasks[FLOW_MAX]; /* of each flow what flow_with_control() makes of it, in any order */
    struct flow_set set;
    struct flow_test test;
};

/* No flows yet. */
void flow_admission_init(struct flow_admission *admission, const struct flow_costs *costs, uint32_t senders,
                         uint64_t chunk_bytes, uint64_t run_bytes, uint64_t bytes_per_s);

/* A flow that was admitted elsewhere. There is room, and none of this name. Where it does not say how many
 * transfers a packet takes, a single-threaded broker expects the most (flow_transfers.h). */
void flow_admission_take(struct flow_admission *admission, uint32_t name, const struct flow_declared *flow);

/* Begins to test the set with a flow more. On a problem nothing has changed; `*culprit` is then the name of
 * the flow that could not be kept. Not while one is tested. */
enum flow_problem flow_admission_begin(struct flow_admission *admission, uint32_t name,
                                       const struct flow_declared *flow, uint32_t *culprit);

/* Goes on for so many steps (flow_test.h). With FLOW_SCHEDULABLE the flow is in; with anything but
 * FLOW_GOES_ON the test has ended, and `admission->test` says where. While one is tested. */
enum flow_verdict flow_admission_step(struct flow_admission *admission, uint64_t steps);

/* Forgets the flow that is tested, if there is one. */
void flow_admission_cancel(struct flow_admission *admission);

/* A flow is gone. Without effect if there is none of this name. Not while one is tested. */
void flow_admission_remove(struct flow_admission *admission, uint32_t name);

#ifdef __cplusplus
}
#endif

#endif
