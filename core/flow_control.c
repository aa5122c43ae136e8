/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The tasks of a flow between domains: data and control packets.
 */
#include "core/flow.h"

uint32_t flow_with_control(const struct flow *data, uint32_t receiver, uint64_t other_way_ns,
                           struct flow tasks[FLOW_TASKS])
{
    struct flow control = *data;

    control.packet_bytes = FLOW_CONTROL_BYTES;
    control.transfers = 1;
    if (other_way_ns != 0 && other_way_ns < control.period_ns) {
        control.period_ns = other_way_ns;
    }
    tasks[0] = *data;
    tasks[1] = control;
    if (other_way_ns != 0) {
        return 2;
    }
    tasks[2] = control;
    tasks[2].sender = receiver;
    return FLOW_TASKS;
}
