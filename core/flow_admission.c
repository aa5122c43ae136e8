/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The tasks of all flows are kept in one array, in any order, which is the form of a set that the analysis
 * takes.
 */
#include "core/flow_admission.h"
#include "core/flow_transfers.h"

void flow_admission_init(struct flow_admission *admission, const struct flow_costs *costs, uint32_t senders,
                         uint64_t chunk_bytes, uint64_t run_bytes, uint64_t bytes_per_s)
{
    admission->costs = *costs;
    admission->senders = senders;
    admission->chunk_bytes = chunk_bytes;
    admission->run_bytes = run_bytes;
    admission->bytes_per_s = bytes_per_s;
    admission->count = 0;
    admission->task_count = 0;
}

/* Number of transfers that the chunk size demands. It is 0 for a flow with a size or chunk of 0, and too
 * large for a packet that does not fit; flow_transform() reports both. */
static uint32_t most_transfers(const struct flow_admission *admission, const struct flow *data)
{
    uint64_t most = 0;

    if (data->packet_bytes != 0 && admission->chunk_bytes != 0) {
        bool copied = flow_is_copied(&admission->costs, data->packet_bytes);

        most = flow_most_transfers(data->packet_bytes, admission->chunk_bytes,
                                   copied ? 0 : admission->run_bytes);
    }
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

void flow_admission_take(struct flow_admission *admission, uint32_t name, const struct flow_declared *flow)
{
    struct flow data = flow->data;
    struct flow tasks[FLOW_TASKS];
    uint32_t count;

    if (data.transfers == 0 && admission->costs.model == FLOW_MODEL_SINGLE_THREAD) {
        data.transfers = most_transfers(admission, &data);
    }
    count = flow_with_control(&data, flow->receiver, flow->other_way_ns, tasks);
    for (uint32_t i = 0; i < count; i++) {
        admission->names[admission->task_count] = name;
        admission->tasks[admission->task_count++] = tasks[i];
    }
    admission->count++;
}

enum flow_problem flow_admission_begin(struct flow_admission *admission, uint32_t name,
                                       const struct flow_declared *flow, uint32_t *culprit)
{
    enum flow_problem problem;
    uint32_t task;

    *culprit = name;
    if (admission->count == FLOW_ADMISSION_FLOWS) {
        return FLOW_TOO_MANY;
    }
    flow_admission_take(admission, name, flow);
    problem = flow_transform(admission->tasks, admission->task_count, &admission->costs, admission->senders,
                             admission->chunk_bytes, &admission->set, &task);
    if (problem != FLOW_OK) {
        *culprit = admission->names[task];
        return problem;
    }
    flow_test_begin(&admission->test, &admission->set, admission->bytes_per_s);
    return FLOW_OK;
}
