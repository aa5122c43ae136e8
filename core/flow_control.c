/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The tasks of a flow between domains.
 */
#include "core/flow.h"

void flow_with_control(const struct flow *data, uint32_t receiver, struct flow tasks[FLOW_TASKS])
{
    for (uint32_t i = 0; i < FLOW_TASKS; i++) {
        tasks[i] = *data;
    }
    for (uint32_t i = 1; i < FLOW_TASKS; i++) {
        tasks[i].packet_bytes = FLOW_CONTROL_BYTES;
        tasks[i].transfers = 1;
    }
    tasks[2].sender = receiver;
}
