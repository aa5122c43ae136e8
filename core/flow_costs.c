/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Functions of the path costs alone, independent of any flows.
 */
#include "core/flow.h"

bool flow_costs_fit(const struct flow_costs *costs)
{
    const uint32_t largest[] = {costs->hypervisor_call_max,
                                costs->transport_max,
                                costs->parse_max,
                                costs->queue_lock_max,
                                costs->queue_insert_max,
                                costs->find_place_max,
                                costs->queue_remove_max,
                                costs->find_earliest_max,
                                costs->program_dma_max,
                                costs->finalize_max,
                                costs->dma_interrupt_max,
                                costs->notify_max,
                                costs->wake_max,
                                costs->copy_max,
                                costs->end_interrupts_max,
                                costs->broker_interrupts_burst};

    for (uint32_t i = 0; i < sizeof largest / sizeof largest[0]; i++) {
        if (largest[i] > FLOW_MAX_COST_NS) {
            return false;
        }
    }
    return costs->model <= FLOW_MODEL_SINGLE_THREAD && costs->broker_interrupts_share < FLOW_SHARE_ONE &&
           costs->reserved == 0 && costs->hypervisor_call_min <= costs->hypervisor_call_max &&
           costs->transport_min <= costs->transport_max;
}

/* What EL2's interrupts take beside `ns` of the broker's own time, without the burst, rounded up. */
static uint64_t beside_ns(const struct flow_costs *costs, uint64_t ns)
{
    uint64_t left = FLOW_SHARE_ONE - costs->broker_interrupts_share;

    return costs->model == FLOW_MODEL_PUBLISHED ? 0 : (ns * costs->broker_interrupts_share + left - 1) / left;
}

uint64_t flow_outside_ns(const struct flow_costs *costs, uint32_t ends_ns)
{
    return (uint64_t)costs->transport_max + costs->notify_max + costs->wake_max + ends_ns +
           beside_ns(costs, costs->wake_max);
}

uint64_t flow_queued_ns(uint64_t deadline_ns, uint32_t ends_ns, const struct flow_costs *costs)
{
    uint64_t outside_ns = flow_outside_ns(costs, ends_ns);

    return deadline_ns > outside_ns ? deadline_ns - outside_ns : 1;
}

uint64_t flow_moved_ns(uint64_t deadline_ns, uint32_t ends_ns, const struct flow_costs *costs)
{
    uint64_t outside_ns = (uint64_t)costs->transport_max + costs->finalize_max + costs->notify_max + ends_ns;

    return deadline_ns > outside_ns ? deadline_ns - outside_ns : 0;
}

uint64_t flow_sent_ns(const struct flow_costs *costs)
{
    uint64_t ends_ns = costs->model == FLOW_MODEL_PUBLISHED ? 0 : costs->end_interrupts_max;

    return (uint64_t)costs->hypervisor_call_max / 2 + 1 + costs->transport_max + ends_ns;
}

uint64_t flow_look_back_ns(const struct flow_costs *costs)
{
    uint64_t left = FLOW_SHARE_ONE - costs->broker_interrupts_share;
    uint64_t woken_ns = (uint64_t)costs->wake_max + costs->broker_interrupts_burst;

    if (costs->model == FLOW_MODEL_PUBLISHED) {
        return flow_sent_ns(costs) + costs->wake_max;
    }
    return flow_sent_ns(costs) + (woken_ns * FLOW_SHARE_ONE + left - 1) / left;
}
