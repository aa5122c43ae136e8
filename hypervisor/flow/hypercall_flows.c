/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows that managers add and end. The broker of a flow's ends tests whether a flow can be admitted
 * (core/broker_admission.h); EL2 checks the flow, finds a slot for it, passes the request on, and opens the
 * flow if the broker's answer to this request is that it is schedulable.
 */
#include "flow/hypercall_flows.h"
#include "core/broker_door.h"
#include "core/flow_test.h"
#include "core/spinlock.h"
#include "flow/flows.h"
#include "flow/path_stamps.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/speculation.h>

_Static_assert((int)FLOW_GOES_ON == BH_FLOW_VERDICT_GOES_ON &&
                   (int)FLOW_SCHEDULABLE == BH_FLOW_VERDICT_ADMITTED &&
                   (int)FLOW_OVERLOADED == BH_FLOW_VERDICT_OVERLOADED &&
                   (int)FLOW_LATE == BH_FLOW_VERDICT_LATE && (int)FLOW_UNDECIDED == BH_FLOW_VERDICT_UNDECIDED,
               "verdicts of a test");

/* All flows of the running system, by number. */
struct online {
    struct manifest_flow flows[BH_MAX_FLOWS];
    bool open[BH_MAX_FLOWS];
    bool testing;    /* a flow is being tested */
    uint32_t tested; /* its number */
    uint32_t owner;  /* index of the domain that has requested the test */
};

static struct spinlock lock;  /* serializes the calls of several managers */
static struct online *online; /* NULL: there is no manager, or no broker with a rate to test with */

static uint64_t failure(enum bh_hypercall_error error)
{
    return (uint64_t) - (int64_t)error;
}

/* The number of the flow in the other direction of an existing flow; BH_MAX_FLOWS if it has none. */
static uint32_t other_way_of(uint32_t number)
{
    uint32_t answers = online->flows[number].answers;

    for (uint32_t i = 0; answers == 0 && i < BH_MAX_FLOWS; i++) {
        if (online->open[i] && online->flows[i].answers == number + 1) {
            return i;
        }
    }
    return answers == 0 ? BH_MAX_FLOWS : answers - 1;
}

static bool there_are_managers(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (domain_has_flag(domain_at(i), BH_DOMAIN_FLAG_MANAGER)) {
            return true;
        }
    }
    return false;
}

static void take_flows(void)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->flows.count; i++) {
        online->flows[i] = manifest_flows(manifest)[i];
        online->open[i] = true;
    }
}

bool hypercall_flows_init(void)
{
    const struct manifest_header *manifest = system_manifest();

    online = NULL;
    if ((manifest->broker.bytes_per_s | manifest->second_broker.bytes_per_s) == 0 || !there_are_managers()) {
        return true;
    }
    online = pool_allocate_bytes(system_pool(), sizeof(*online));
    if (online == NULL) {
        return false;
    }
    take_flows();
    return true;
}

/* Converts x[1] to x[7] to a flow. Returns false if a value exceeds the range of its field. */
static bool flow_of(const uint64_t x[31], struct manifest_flow *flow)
{
    if ((x[1] | x[2] | x[3] | x[4] | x[7]) > UINT32_MAX) {
        return false;
    }
    *flow = (struct manifest_flow){
        .source = (uint32_t)x[1],
        .destination = (uint32_t)x[2],
        .port = (uint32_t)x[3],
        .packet_bytes = (uint32_t)x[4],
        .period_ns = x[5],
        .deadline_ns = x[6],
        .transfers = (uint32_t)x[7],
        .connections = BH_FLOW_CONNECTIONS,
    };
    return true;
}

static bool are_alike(const struct manifest_flow *a, const struct manifest_flow *b)
{
    return a->answers == 0 && b->answers == 0 && a->source == b->source && a->destination == b->destination &&
           a->port == b->port;
}

/* Finds a slot for the flow, first among those that the manifest has left free. */
static enum bh_hypercall_error find_place(const struct manifest_flow *flow, uint32_t *number)
{
    uint32_t given = system_manifest()->flows.count;

    *number = BH_MAX_FLOWS;
    for (uint32_t k = BH_MAX_FLOWS; k-- > 0;) {
        uint32_t i = (given + k) % BH_MAX_FLOWS;

        if (online->open[i]) {
            if (are_alike(&online->flows[i], flow)) {
                return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
            }
        } else if (flows_is_unused(i)) {
            *number = i;
        } else if (are_alike(&online->flows[i], flow)) {
            return BH_HYPERCALL_ERROR_FLOW_BUSY;
        }
    }
    return *number == BH_MAX_FLOWS ? BH_HYPERCALL_ERROR_FLOW_ROOM : BH_HYPERCALL_ERROR_NONE;
}

static enum bh_hypercall_error error_of(uint32_t problem)
{
    switch (problem) {
    case FLOW_OK:
        return BH_HYPERCALL_ERROR_NONE;
    case FLOW_TOO_MANY:
    case FLOW_QUEUE_LONG:
        return BH_HYPERCALL_ERROR_FLOW_ROOM;
    case FLOW_DEADLINE_SHORT:
    case FLOW_PERIOD_SHORT:
    case FLOW_PARSE_LONG:
        return BH_HYPERCALL_ERROR_FLOW_FIXED;
    default:
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
}

static enum bh_hypercall_error add(const struct domain *caller, uint64_t x[31])
{
    struct manifest_flow flow;
    enum bh_hypercall_error error;
    uint32_t number;

    if (!flow_of(x, &flow) || !manifest_flow_is_sound(system_manifest(), &flow)) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    if (!flows_can_be_tested(&flow)) {
        return BH_HYPERCALL_ERROR_NO_FLOWS;
    }
    if (online->testing) {
        x[1] = online->tested;
        return BH_HYPERCALL_ERROR_FLOW_BUSY;
    }
    error = find_place(&flow, &number);
    if (error == BH_HYPERCALL_ERROR_NONE) {
        online->flows[number] = flow;
        online->testing = true;
        online->tested = number;
        online->owner = caller->index;
        flows_request_test(number, &flow);
        x[1] = number;
    }
    return error;
}

/* The verdict of an answer. The answer is final, so a value that is no final verdict comes from a broker that
 * fails. The flow is refused then: nothing is known of it, and its manager need not wait. */
static enum flow_verdict verdict_of(const struct door_answer *answer)
{
    return answer->verdict > FLOW_GOES_ON && answer->verdict <= FLOW_UNDECIDED
               ? (enum flow_verdict)answer->verdict
               : FLOW_UNDECIDED;
}

static void cancel(void)
{
    online->testing = false;
    flows_cancel_test(&online->flows[online->tested]);
}

static enum bh_hypercall_error test(const struct domain *caller, uint64_t x[31])
{
    struct door_answer answer;
    enum flow_verdict verdict;

    if (!online->testing || online->owner != caller->index) {
        return BH_HYPERCALL_ERROR_FLOW_BUSY;
    }
    if (!flows_test_answer(&online->flows[online->tested], &answer)) {
        answer = (struct door_answer){.verdict = FLOW_GOES_ON};
        verdict = FLOW_GOES_ON;
    } else {
        cancel(); /* so that a broker that is restarted does not test again */
        if (answer.problem != FLOW_OK) {
            x[1] = answer.culprit < BH_MAX_FLOWS ? answer.culprit : online->tested;
            return error_of(answer.problem);
        }
        verdict = verdict_of(&answer);
    }
    x[1] = (uint64_t)verdict;
    x[2] = online->tested;
    x[3] = verdict == FLOW_LATE ? answer.at : 0;
    x[4] = verdict == FLOW_LATE ? answer.demand : 0;
    x[5] = answer.longest_away_ns;
    if (verdict == FLOW_SCHEDULABLE) {
        online->open[online->tested] = true;
        flows_open(online->tested, &online->flows[online->tested]);
    }
    return BH_HYPERCALL_ERROR_NONE;
}

static void end_one(uint32_t number)
{
    online->open[number] = false;
    flows_close(number);
}

/* Closes a flow together with the flow in its other direction, or cancels the test of a flow. Any manager may
 * cancel a test: a manager that never asks for its verdict would hold up all others. */
static enum bh_hypercall_error end(uint64_t x[31])
{
    uint32_t number;
    uint32_t other;

    if (x[1] >= BH_MAX_FLOWS) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    number = (uint32_t)(x[1] & arch_index_mask(x[1], BH_MAX_FLOWS));
    if (online->testing && online->tested == number) {
        cancel();
        return BH_HYPERCALL_ERROR_NONE;
    }
    if (!online->open[number]) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    if (online->testing) {
        x[1] = online->tested;
        return BH_HYPERCALL_ERROR_FLOW_BUSY;
    }
    other = other_way_of(number);
    if (other != BH_MAX_FLOWS) {
        end_one(other);
    }
    end_one(number);
    return BH_HYPERCALL_ERROR_NONE;
}

static enum bh_hypercall_error serve(const struct domain *caller, uint64_t x[31])
{
    enum bh_hypercall_error error;

    if (online == NULL) {
        return BH_HYPERCALL_ERROR_NO_FLOWS;
    }
    spin_lock(&lock);
    if (atomic_load(&caller->state) != BH_DOMAIN_STATE_RUNNING) {
        spin_unlock(&lock);
        /* the domain has been stopped: nothing would cancel a test that it starts now */
        return BH_HYPERCALL_ERROR_FLOW_BUSY;
    }
    switch ((uint32_t)x[0]) {
    case BH_HYPERCALL_FLOW_ADD:
        error = add(caller, x);
        break;
    case BH_HYPERCALL_FLOW_TEST:
        error = test(caller, x);
        break;
    default:
        error = end(x);
        break;
    }
    spin_unlock(&lock);
    return error;
}

bool hypercall_flows(const struct domain *caller, uint64_t x[31])
{
    uint32_t function = (uint32_t)x[0];

    if (function == BH_HYPERCALL_PATH_COST_READ) {
        x[0] = failure(path_stamps_read(x) ? BH_HYPERCALL_ERROR_NONE : BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
        return true;
    }
    if (function < BH_HYPERCALL_FLOW_ADD || function > BH_HYPERCALL_FLOW_REMOVE) {
        return false;
    }
    x[0] = failure(serve(caller, x));
    return true;
}

void hypercall_flows_domain_stopped(const struct domain *domain)
{
    if (online == NULL) {
        return;
    }
    spin_lock(&lock);
    if (online->testing && online->owner == domain->index) {
        cancel();
    }
    spin_unlock(&lock);
}
