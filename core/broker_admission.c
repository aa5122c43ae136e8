/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * EL2 opens and closes no flow while a request is valid, so the set of flows does not change. If EL2 replaces
 * the request while the broker reads it, the broker may read parts of both. EL2 ignores the answer then,
 * because it has the number of the earlier request.
 */
#include "core/broker_admission.h"
#include "core/flow_pause.h"

_Static_assert(BH_MAX_FLOWS <= FLOW_ADMISSION_FLOWS, "room for every flow");

uint64_t broker_admission_request(const struct broker_door *door)
{
    return __atomic_load_n(&door->request.number, __ATOMIC_ACQUIRE);
}

static bool is_open(const struct door_flow *flow)
{
    return __atomic_load_n(&flow->changes, __ATOMIC_ACQUIRE) % 2 == 1;
}

/* Period of the other direction of flow `number`; 0 if it has only one. */
static uint64_t other_way_ns(const struct broker_door *door, uint32_t number)
{
    uint32_t answers = door->flows[number].parameters.answers;

    for (uint32_t i = 0; i < BH_MAX_FLOWS; i++) {
        const struct door_flow *other = &door->flows[i];

        flow_pause();
        if (is_open(other) && (answers == i + 1 || other->parameters.answers == number + 1)) {
            return other->parameters.period_ns;
        }
    }
    return 0;
}

static void take_open(struct flow_admission *admission, const struct broker_door *door)
{
    for (uint32_t i = 0; i < BH_MAX_FLOWS; i++) {
        const struct flow_path_parameters *parameters = &door->flows[i].parameters;
        struct flow_declared flow = {
            .data = {.packet_bytes = parameters->most_bytes,
                     .period_ns = parameters->period_ns,
                     .deadline_ns = door->flows[i].deadline_ns,
                     .transfers = parameters->most_transfers,
                     .sender = parameters->source,
                     .ends_ns = door->flows[i].ends_ns},
            .receiver = parameters->destination,
        };

        flow_pause();
        if (is_open(&door->flows[i])) {
            flow.other_way_ns = other_way_ns(door, i);
            flow_admission_take(admission, i, &flow);
        }
    }
}

static uint32_t count_senders(const struct broker_map *map)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < BH_MAX_DOMAINS; i++) {
        count += map->domains[i].cid != 0;
    }
    return count;
}

static enum flow_problem begin(struct flow_admission *admission, const struct broker_door *door,
                               const struct broker_map *map, uint32_t *culprit)
{
    const struct door_request *request = &door->request;
    struct flow_declared flow = {
        .data = {.packet_bytes = request->packet_bytes,
                 .period_ns = request->period_ns,
                 .deadline_ns = request->deadline_ns,
                 .transfers = request->transfers,
                 .sender = request->source,
                 .ends_ns = request->ends_ns},
        .receiver = request->destination,
    };

    flow_admission_init(admission, &map->costs, count_senders(map), map->chunk_bytes, map->run_bytes,
                        map->bytes_per_s);
    take_open(admission, door);
    return flow_admission_begin(admission, request->flow, &flow, culprit);
}

bool broker_admission_test(struct flow_admission *admission, const struct broker_door *door,
                           const struct broker_map *map, uint64_t number, struct door_answer *answer)
{
    enum flow_verdict verdict = FLOW_GOES_ON;

    if (door->request.flow >= BH_MAX_FLOWS) {
        return false;
    }
    answer->problem = begin(admission, door, map, &answer->culprit);
    while (answer->problem == FLOW_OK && verdict == FLOW_GOES_ON &&
           number == broker_admission_request(door)) {
        flow_pause();
        verdict = flow_test_run(&admission->test, 1);
    }
    answer->verdict = verdict;
    answer->at = admission->test.at;
    answer->demand = admission->test.demand;
    return number == broker_admission_request(door);
}
