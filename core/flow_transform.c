/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Transforms declared flows to tasks, by the published formulas of F4 and F5. For the single-threaded broker,
 * the results that hold for it are passed on to flow_single_thread.c. Sums of ns are doubled at the end, so
 * that halves are exact.
 */
#include "core/flow.h"
#include "core/flow_pause.h"
#include "core/flow_single_thread.h"
#include <string.h>

#define MAX_TRANSFERS (1u << 20)

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

static enum flow_problem check(const struct flow *flow, uint64_t chunk_bytes)
{
    if (flow->packet_bytes == 0 || flow->packet_bytes > FLOW_MAX_BYTES) {
        return FLOW_BAD_SIZE;
    }
    if (flow->period_ns == 0 || flow->period_ns > FLOW_MAX_NS || flow->deadline_ns == 0 ||
        flow->deadline_ns > FLOW_MAX_NS) {
        return FLOW_BAD_TIME;
    }
    if (flow->sender >= FLOW_MAX_DOMAINS) {
        return FLOW_BAD_SENDER;
    }
    if (divide_up(flow->packet_bytes, chunk_bytes) > MAX_TRANSFERS || flow->transfers > MAX_TRANSFERS ||
        (flow->transfers != 0 && flow->transfers < divide_up(flow->packet_bytes, chunk_bytes))) {
        return FLOW_BAD_TRANSFERS;
    }
    return FLOW_OK;
}

/* How the flows of one domain delay each other in its queue. */
struct queue {
    uint64_t insert_ns; /* Oqi */
    uint64_t flows;
};

/* Limits a time to a value beyond every deadline, so that a flow of this domain cannot meet its deadline. */
static uint64_t capped(uint64_t ns)
{
    return ns < FLOW_MAX_NS ? ns : FLOW_MAX_NS;
}

static void fill_queues(const struct flow flows[], uint32_t count, const struct flow_costs *costs,
                        struct queue queues[FLOW_MAX_DOMAINS])
{
    uint64_t most = FLOW_MAX_NS / ((uint64_t)costs->find_place_max + 1);

    memset(queues, 0, FLOW_MAX_DOMAINS * sizeof queues[0]);
    if (costs->model != FLOW_MODEL_PUBLISHED) {
        return; /* a single thread takes no locks, and searches for no place */
    }
    for (uint32_t i = 0; i < count; i++) {
        struct queue *queue = &queues[flows[i].sender];
        uint64_t waiting = divide_up(flows[i].deadline_ns, flows[i].period_ns);

        flow_pause();
        queue->flows++;
        queue->insert_ns =
            capped(queue->insert_ns + (waiting < most ? waiting : most) * costs->find_place_max);
    }
    for (uint32_t i = 0; i < FLOW_MAX_DOMAINS; i++) {
        queues[i].insert_ns += costs->queue_insert_max;
    }
}

/* What queueing costs a packet. Without locks there is no such cost besides parsing. */
struct queueing {
    uint64_t packet_ns; /* Opkt */
    uint64_t jitter_ns; /* J' */
};

static struct queueing queueing_of(const struct flow_costs *costs, const struct queue *queue)
{
    uint64_t source_ns = costs->queue_lock_max + queue->insert_ns;                  /* B_s */
    uint64_t broker_ns = (uint64_t)costs->queue_lock_max + costs->queue_remove_max; /* B_b */
    struct queueing found = {0, 0};

    if (costs->model == FLOW_MODEL_PUBLISHED) {
        found.packet_ns = source_ns + broker_ns;
        found.jitter_ns = (costs->parse_max + found.packet_ns) * queue->flows;
    }
    return found;
}

/* O_dma in half ns, of a transfer that the engine makes or that the core copies. */
static uint64_t transfer_cost(const struct flow_costs *costs, uint32_t senders, bool copied)
{
    uint64_t between_ns =
        copied ? costs->copy_max : (uint64_t)costs->hypervisor_call_max + costs->dma_interrupt_max;

    return 2 * ((uint64_t)senders * costs->find_earliest_max + costs->program_dma_max + between_ns +
                costs->finalize_max);
}

static enum flow_problem transform(const struct flow *flow, const struct flow_costs *costs,
                                   const struct queueing *queueing, uint32_t senders,
                                   const struct flow_set *set, struct flow_task *task)
{
    /* Os_max + O_r + J'. A busy interval begins with waking the broker, which delays all of these. */
    uint64_t lost_ns = flow_outside_ns(costs, flow->ends_ns) + queueing->jitter_ns;
    uint64_t send_min = costs->hypervisor_call_min + 2ull * costs->transport_min; /* Os, half ns */
    uint64_t send_max = costs->hypervisor_call_max + 2ull * costs->transport_max;
    uint64_t transfers = divide_up(flow->packet_bytes, set->chunk_bytes);
    uint64_t last_bytes = flow->packet_bytes - (transfers - 1) * set->chunk_bytes;
    uint64_t each = transfer_cost(costs, senders, flow_is_copied(costs, flow->packet_bytes));

    if (flow->deadline_ns <= lost_ns) {
        return FLOW_DEADLINE_SHORT;
    }
    if (2 * flow->period_ns + send_min <= send_max) {
        return FLOW_PERIOD_SHORT;
    }
    if (flow->transfers >
        transfers) { /* the ends are at unknown positions, so the last transfer may be of any length */
        transfers = flow->transfers;
        last_bytes = flow->packet_bytes < set->chunk_bytes ? flow->packet_bytes : set->chunk_bytes;
    }
    *task = (struct flow_task){
        .period = 2 * flow->period_ns + send_min - send_max,
        .first = 2 * (flow->deadline_ns - lost_ns),
        .fixed = transfers * each + 2 * queueing->packet_ns,
        .bytes = flow->packet_bytes,
        .block_fixed = each + 2 * queueing->packet_ns,
        .block_bytes = last_bytes,
        .several = flow->packet_bytes > set->chunk_bytes,
    };
    return FLOW_OK;
}

enum flow_problem flow_transform(const struct flow flows[], uint32_t count, const struct flow_costs *costs,
                                 uint32_t senders, uint64_t chunk_bytes, struct flow_set *set,
                                 uint32_t *culprit)
{
    struct queue queues[FLOW_MAX_DOMAINS];

    *culprit = 0;
    if (count == 0 || count > FLOW_MAX) {
        return FLOW_TOO_MANY;
    }
    if (chunk_bytes == 0 || chunk_bytes > FLOW_MAX_BYTES || costs->copied_bytes > chunk_bytes) {
        return FLOW_BAD_CHUNK;
    }
    if (!flow_costs_fit(costs)) {
        return FLOW_BAD_COSTS;
    }
    if (senders == 0 || senders > FLOW_MAX_DOMAINS) {
        return FLOW_BAD_SENDER;
    }
    for (uint32_t i = 0; i < count; i++) {
        enum flow_problem problem = check(&flows[i], chunk_bytes);

        flow_pause();
        if (problem != FLOW_OK) {
            *culprit = i;
            return problem;
        }
    }
    fill_queues(flows, count, costs, queues);
    set->count = count;
    set->chunk_bytes = chunk_bytes;
    set->lead_fixed = 0;
    set->lead_bytes = 0;
    set->dma_fixed = transfer_cost(costs, senders, false);
    for (uint32_t i = 0; i < count; i++) {
        struct queueing queueing = queueing_of(costs, &queues[flows[i].sender]);
        enum flow_problem problem = transform(&flows[i], costs, &queueing, senders, set, &set->tasks[i]);

        flow_pause();
        if (problem != FLOW_OK) {
            *culprit = i;
            return problem;
        }
    }
    return costs->model == FLOW_MODEL_SINGLE_THREAD
               ? flow_single_thread(flows, count, costs, senders, set, culprit)
               : FLOW_OK;
}
