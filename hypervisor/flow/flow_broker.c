/* SPDX-License-Identifier: Apache-2.0
 *
 * The broker's hypercalls, how it is told of flows, and its end. All functions are called with interrupts
 * masked and do bounded work; the hypercalls run on the broker's own core.
 */
#include "flow/flow_broker.h"
#include "core/flow_transfers.h"
#include "core/path_costs.h"
#include "core/socket_reach.h"
#include "core/spinlock.h"
#include "flow/door.h"
#include "flow/flow_engine.h"
#include "flow/flows.h"
#include "flow/path_stamps.h"
#include "flow/sockets.h"
#include "memory/placement.h"
#include "memory/stage2.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/speculation.h>
#include <stdatomic.h>
#include <string.h>

/* What may still access memory of domains with a socket after the broker was stopped. */
enum broker_leaves {
    BROKER_HAS_LEFT,      /* nothing; so, too, while it runs */
    BROKER_CORE_LEAVES,   /* its core, which has not yet learnt of the stop */
    BROKER_ENGINE_LEAVES, /* an engine of its own, until the SMMU aborts it */
};

static struct {
    struct spinlock lock; /* protects the flows and the engine */
    struct door_flow flows[BH_MAX_FLOWS];
    uint32_t flow_changes;
    struct door_request request;  /* the latest request for an admission test */
    _Atomic uint32_t engine_ends; /* domains (1 << index) whose memory the engine's transfer accesses */
    uint64_t not_before;          /* counter value before which the rate permits no further transfer */
    _Atomic uint32_t leaves;      /* enum broker_leaves */
    struct flow_path_statistics earlier[BH_MAX_FLOWS]; /* statistics of brokers that have ended */
} broker;

static const struct manifest_broker *config(void)
{
    return &system_manifest()->broker;
}

static bool own_engine(void)
{
    return config()->engine == BH_BROKER_ENGINE_OWN;
}

static struct domain *broker_domain(void)
{
    return domain_at(config()->domain);
}

/* Maps the memory that the broker reaches of a domain, at BH_BROKER_WINDOW + its physical address. Queues,
 * headers and buffers may be anywhere in it. */
static bool map_in_broker(const struct domain *domain)
{
    const struct manifest_header *manifest = system_manifest();
    struct socket_reach reach = socket_reach_of(manifest, domain->config);
    const struct manifest_segment *segments = manifest_segments(manifest) + reach.first_segment;

    for (uint32_t i = 0; i < reach.segment_count; i++) {
        if (!stage2_map_window(&broker_domain()->stage2, &segments[i], BH_BROKER_WINDOW)) {
            return false;
        }
    }
    return true;
}

bool flow_broker_init(void)
{
    memset(&broker, 0, sizeof(broker));
    flow_engine_init();
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (domain_at(i)->config->socket_cid != 0 && !map_in_broker(domain_at(i))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < system_manifest()->flows.count; i++) {
        flows_open(i, &manifest_flows(system_manifest())[i]);
    }
    return true;
}

/* Flows */

/* Writes a flow to the door. Called under the lock. */
static void write_flow(uint32_t number)
{
    struct broker_door *door = door_here();
    struct door_flow *to;

    if (door == NULL) {
        return;
    }
    to = &door->flows[number];
    to->deadline_ns = broker.flows[number].deadline_ns;
    to->parameters = broker.flows[number].parameters;
    __atomic_store_n(&to->changes, broker.flows[number].changes, __ATOMIC_RELEASE);
    __atomic_store_n(&door->flow_changes, broker.flow_changes, __ATOMIC_RELEASE);
    door_wake(door);
}

/* Writes the request for an admission test to the door, its number last: a broker that sees the new number
 * sees the new flow. Called under the lock. */
static void write_request(void)
{
    struct broker_door *door = door_here();
    struct door_request request = broker.request;

    if (door == NULL) {
        return;
    }
    request.number = door->request.number;
    door->request = request;
    __atomic_store_n(&door->request.number, broker.request.number, __ATOMIC_RELEASE);
    door_wake(door);
}

/* Most transfers for a packet of the flow, as it was admitted; 0 if they were not counted. */
static uint32_t most_transfers(const struct manifest_flow *flow)
{
    const struct flow_costs *costs = manifest_costs(system_manifest());
    bool counted = costs->model == BH_FLOW_MODEL_SINGLE_THREAD;
    bool copied = flow_is_copied(costs, flow->packet_bytes);

    return flow->transfers != 0 || !counted
               ? flow->transfers
               : (uint32_t)flow_most_transfers(flow->packet_bytes, config()->chunk_bytes,
                                               copied ? 0 : config()->run_bytes);
}

void flows_open(uint32_t number, const struct manifest_flow *flow)
{
    struct status_flow *status = &system_status()->flows[number];

    memset(status, 0, sizeof *status);
    status->source = (uint16_t)flow->source;
    status->destination = (uint16_t)flow->destination;
    status->port = flow->port;
    status->packet_bytes = flow->packet_bytes;
    status->period_ns = flow->period_ns;
    status->deadline_ns = flow->deadline_ns;
    status->state = BH_FLOW_STATE_OPEN;
    spin_lock(&broker.lock);
    broker.earlier[number] = (struct flow_path_statistics){0};
    broker.flows[number].deadline_ns = flow->deadline_ns;
    broker.flows[number].parameters = (struct flow_path_parameters){
        .source = flow->source,
        .destination = flow->destination,
        .port = flow->port,
        .most_bytes = flow->packet_bytes,
        .period_ns = flow->period_ns,
        .period_ticks = clock_ticks(flow->period_ns),
        .deadline_ticks = clock_ticks(flow->deadline_ns),
        .most_transfers = most_transfers(flow),
        .connections = flow->connections,
        .answers = flow->answers,
        .group = flow->group,
        .queued_ticks = clock_ticks(flow_queued_ns(flow->deadline_ns, manifest_costs(system_manifest()))),
    };
    broker.flows[number].changes++;
    broker.flow_changes++;
    write_flow(number);
    spin_unlock(&broker.lock);
}

void flows_close(uint32_t number)
{
    system_status()->flows[number].state = BH_FLOW_STATE_CLOSED;
    spin_lock(&broker.lock);
    broker.flows[number].changes++;
    broker.flow_changes++;
    write_flow(number);
    spin_unlock(&broker.lock);
}

void flows_request_test(uint32_t number, const struct manifest_flow *flow)
{
    spin_lock(&broker.lock);
    broker.request = (struct door_request){
        .number = broker.request.number + 1,
        .flow = number,
        .source = flow->source,
        .destination = flow->destination,
        .packet_bytes = flow->packet_bytes,
        .transfers = flow->transfers,
        .period_ns = flow->period_ns,
        .deadline_ns = flow->deadline_ns,
    };
    write_request();
    spin_unlock(&broker.lock);
}

void flows_cancel_test(void)
{
    spin_lock(&broker.lock);
    broker.request.number++;
    broker.request.flow = BH_MAX_FLOWS;
    write_request();
    spin_unlock(&broker.lock);
}

bool flows_test_answer(struct door_answer *answer)
{
    const struct broker_reply *reply;
    bool answered;

    spin_lock(&broker.lock);
    reply = door_reply_here();
    answered =
        reply != NULL && __atomic_load_n(&reply->answer.number, __ATOMIC_ACQUIRE) == broker.request.number;
    if (answered) {
        *answer = reply->answer;
    }
    spin_unlock(&broker.lock);
    return answered;
}

bool flows_is_unused(uint32_t number)
{
    const struct broker_reply *reply;
    uint32_t changes;
    bool unused;

    spin_lock(&broker.lock);
    reply = door_reply_here();
    changes = broker.flows[number].changes;
    unused = changes % 2 == 0 &&
             (reply == NULL || __atomic_load_n(&reply->flow_changes[number], __ATOMIC_ACQUIRE) == changes);
    spin_unlock(&broker.lock);
    return unused;
}

static struct flow_path_statistics sum_of(const struct flow_path_statistics *earlier,
                                          const struct flow_path_statistics *now)
{
    struct flow_path_statistics sum = *now;

    if (now->packets == 0 || (earlier->packets != 0 && earlier->latency_least < now->latency_least)) {
        sum.latency_least = earlier->latency_least;
    }
    sum.packets += earlier->packets;
    sum.bytes += earlier->bytes;
    sum.control_packets += earlier->control_packets;
    sum.misses += earlier->misses;
    sum.latency_most = earlier->latency_most > now->latency_most ? earlier->latency_most : now->latency_most;
    sum.latency_total += earlier->latency_total;
    sum.lost += earlier->lost;
    sum.refused += earlier->refused;
    return sum;
}

/* Publishes the broker's statistics of a set of flows (1 << number). */
static void publish_statistics(const struct broker_reply *reply, uint64_t numbers)
{
    for (; numbers != 0; numbers &= numbers - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(numbers);
        struct flow_path_statistics from;
        struct status_flow *status;

        if (i >= BH_MAX_FLOWS) {
            return;
        }
        from = reply->statistics[i];
        from = sum_of(&broker.earlier[i], &from);
        status = &system_status()->flows[i];
        status->packets = from.packets;
        status->bytes = from.bytes;
        status->control_packets = from.control_packets;
        status->misses = from.misses;
        status->latency_min_ticks =
            from.latency_least < UINT32_MAX ? (uint32_t)from.latency_least : UINT32_MAX;
        status->latency_max_ticks = from.latency_most;
        status->latency_sum_ticks = from.latency_total;
        status->lost = from.lost;
        status->refused = from.refused;
        status->unread = from.unread < UINT32_MAX ? (uint32_t)from.unread : UINT32_MAX;
    }
}

/* Calls */

static uint64_t failure(enum bh_hypercall_error error)
{
    return (uint64_t) - (int64_t)error;
}

static enum bh_hypercall_error open_door(const struct domain *domain, const uint64_t x[31])
{
    if (x[2] > 1 || !door_open(domain, x[1], x[2] == 1)) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    sockets_tell_all();
    spin_lock(&broker.lock);
    for (uint32_t i = 0; i < BH_MAX_FLOWS; i++) {
        write_flow(i);
    }
    write_request();
    spin_unlock(&broker.lock);
    return BH_HYPERCALL_ERROR_NONE;
}

/* Calls `act` for the domains of a set that have a socket, and skips others. */
static void for_each(uint64_t set, void (*act)(struct domain *domain))
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if ((set >> i & 1) != 0 && socket_of(domain_at(i)) != NULL) {
            act(domain_at(i));
        }
    }
}

static void interrupt(struct domain *domain)
{
    socket_interrupt(domain);
}

static void fail(struct domain *domain)
{
    socket_fail(domain);
}

static enum bh_hypercall_error notify(const uint64_t x[31])
{
    const struct broker_reply *reply = door_reply_here();

    if (reply == NULL) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    door_heard();
    publish_statistics(reply, x[4]);
    for_each(x[1], interrupt);
    for_each(x[2], fail);
    for_each(x[3], socket_left);
    return BH_HYPERCALL_ERROR_NONE;
}

/* Translates one side of a transfer, at guest-physical address `at` of a domain with a socket. Returns the
 * number of contiguous bytes, at most `bytes`; 0 if the domain has no socket or its device does not reach the
 * memory. */
static uint64_t physical_run(uint64_t domain, uint64_t at, uint64_t bytes, uint64_t *physical)
{
    const struct socket_device *device;

    if (domain >= domain_count()) {
        return 0;
    }
    device = socket_of(domain_at((uint32_t)(domain & arch_index_mask(domain, domain_count()))));
    return device != NULL && guest_memory_owns(&device->memory, at, bytes)
               ? guest_memory_run(&device->memory, at, bytes, physical)
               : 0;
}

static uint64_t ticks_at_rate(uint64_t bytes)
{
    uint64_t rate = config()->bytes_per_s;

    return rate == 0 ? 0 : (bytes * clock_hz() + rate - 1) / rate;
}

/* Starts a transfer. x1, x2: source domain and address; x3, x4: destination; x5: bytes. Copies as much as is
 * contiguous on both sides. */
static enum bh_hypercall_error copy(const struct vcpu *vcpu, uint64_t x[31])
{
    struct engine_transfer transfer;
    uint64_t bytes = x[5];
    uint64_t run;
    uint64_t now = clock_now();

    if (!flow_engine_exists() || bytes == 0 || bytes > config()->chunk_bytes) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    run = physical_run(x[1], x[2], bytes, &transfer.from);
    bytes = physical_run(x[3], x[4], bytes, &transfer.to);
    bytes = run < bytes ? run : bytes;
    if (bytes == 0) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    transfer.bytes = (uint32_t)bytes;
    spin_lock(&broker.lock);
    if (flow_engine_runs() || now < broker.not_before) {
        bytes = 0; /* one transfer at a time, and none before the rate permits it */
    } else {
        atomic_store(&broker.engine_ends, 1u << x[1] | 1u << x[3]);
        broker.not_before = now + ticks_at_rate(bytes);
        flow_engine_start(vcpu->cpu, &transfer);
    }
    spin_unlock(&broker.lock);
    x[1] = bytes;
    x[2] = broker.not_before;
    return BH_HYPERCALL_ERROR_NONE;
}

bool flows_broker_call(const struct vcpu *vcpu, uint64_t x[31])
{
    enum bh_hypercall_error error;

    switch ((uint32_t)x[0]) {
    case BH_HYPERCALL_BROKER_OPEN:
        error = open_door(vcpu->domain, x);
        break;
    case BH_HYPERCALL_BROKER_TELL:
        error = notify(x);
        break;
    case BH_HYPERCALL_BROKER_COPY:
        error = copy(vcpu, x);
        break;
    case BH_HYPERCALL_BROKER_COSTS:
        error = path_stamps_take(vcpu->domain, x[1]) ? BH_HYPERCALL_ERROR_NONE
                                                     : BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
        break;
    default:
        return false;
    }
    x[0] = failure(error);
    return true;
}

/* The engine */

/* If the engine's transfer has ended, tells the broker and returns the transfer's domains. Called under the
 * lock. */
static uint32_t poll_engine(void)
{
    enum flow_engine_state state = flow_engine_look();
    struct broker_door *door = door_here();
    uint32_t ends = atomic_load(&broker.engine_ends);

    if (state != FLOW_ENGINE_ENDED && state != FLOW_ENGINE_FAILED) {
        return 0;
    }
    flow_engine_forget();
    atomic_store(&broker.engine_ends, 0);
    if (door != NULL) {
        __atomic_store_n(&door->engine, state == FLOW_ENGINE_ENDED ? DOOR_ENGINE_DONE : DOOR_ENGINE_FAILED,
                         __ATOMIC_RELEASE);
        door_wake(door);
    }
    return ends;
}

bool flows_engine_interrupt(uint32_t intid)
{
    uint32_t ends;

    if (!flow_engine_has(intid)) {
        return false;
    }
    spin_lock(&broker.lock);
    ends = poll_engine();
    spin_unlock(&broker.lock);
    if (door_reply_here() == NULL) {
        for_each(ends, socket_left); /* without a broker, nothing else notifies those who wait */
    }
    return true;
}

bool flow_broker_touches(uint32_t domain)
{
    return atomic_load(&broker.leaves) != BROKER_HAS_LEFT ||
           (atomic_load(&broker.engine_ends) >> domain & 1) != 0;
}

/* The end */

/* True if the broker may run again: it restarts, or a running manager can restart it. */
static bool may_restart(void)
{
    bool may = atomic_load(&broker_domain()->state) == BH_DOMAIN_STATE_RESTARTING;

    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct domain *other = domain_at(i);

        may = may || (other != broker_domain() && domain_has_flag(other, BH_DOMAIN_FLAG_MANAGER) &&
                      atomic_load(&other->state) == BH_DOMAIN_STATE_RUNNING);
    }
    return may;
}

/* The core may learn of the stop, and say that it has left, as soon as it sees the domain's state. */
void flow_broker_stops(void)
{
    atomic_store(&broker.leaves, own_engine() || this_cpu() != broker_domain()->vcpus[0].cpu
                                     ? (uint32_t)BROKER_CORE_LEAVES
                                     : (uint32_t)BROKER_HAS_LEFT);
}

/* A copy on the broker's own core continues until that core has learnt of the stop, and one of its own engine
 * until the SMMU aborts it. A later broker continues from this one's progress; if there can be none, the
 * drivers are notified. */
void flow_broker_stop(void)
{
    door_close();
    sockets_forget_broker();
    if (!may_restart()) {
        for_each(~0ull, fail);
    }
    spin_lock(&broker.lock); /* waits for a core that is writing flows to the door */
    (void)poll_engine();
    spin_unlock(&broker.lock);
    if (atomic_load(&broker.leaves) == BROKER_HAS_LEFT) {
        for_each(~0ull, socket_left);
    }
}

/* Ticks from `since` to the end of the run; 0 if `since` is 0 (nothing was outstanding) or not before the
 * end. */
static uint64_t ticks_since(uint64_t since)
{
    uint64_t ended_at = system_status()->ended_at;

    return since != 0 && since < ended_at ? ended_at - since : 0;
}

void flows_ended(void)
{
    const struct broker_door *door = door_here();
    const struct broker_reply *reply = door_reply_here();

    system_status()->transfer_ticks =
        ticks_since(flow_engine_exists() || reply == NULL ? flow_engine_runs_since() : reply->transfer_since);
    for (uint32_t i = 0; door != NULL && i < domain_count(); i++) {
        uint64_t ticks = ticks_since(door_unheard_since(door, i));

        system_status()->domains[i].unheard_ticks = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    }
}

static void save_statistics(const struct broker_reply *reply)
{
    spin_lock(&broker.lock);
    for (uint32_t i = 0; i < BH_MAX_FLOWS; i++) {
        struct flow_path_statistics last = reply->statistics[i];

        broker.earlier[i] = sum_of(&broker.earlier[i], &last);
    }
    spin_unlock(&broker.lock);
}

/* Returns whether it was in state `from`. */
static bool leave(enum broker_leaves from, enum broker_leaves to)
{
    uint32_t expected = (uint32_t)from;

    return atomic_compare_exchange_strong(&broker.leaves, &expected, (uint32_t)to);
}

void flow_broker_vcpu_off(void)
{
    const struct broker_reply *reply = door_keep_progress();

    if (reply != NULL) {
        save_statistics(reply);
    }
    if (own_engine()) {
        (void)leave(BROKER_CORE_LEAVES, BROKER_ENGINE_LEAVES);
    } else if (leave(BROKER_CORE_LEAVES, BROKER_HAS_LEFT)) {
        for_each(~0ull, socket_left);
    }
}

const struct domain *flow_broker_leaving(void)
{
    bool leaving = atomic_load(&broker.leaves) == BROKER_ENGINE_LEAVES;

    return leaving && this_cpu() == broker_domain()->vcpus[0].cpu ? broker_domain() : NULL;
}

void flow_broker_left(void)
{
    if (leave(BROKER_ENGINE_LEAVES, BROKER_HAS_LEFT)) {
        for_each(~0ull, socket_left);
    }
}

void flow_broker_reset(void)
{
    if (atomic_exchange(&broker.leaves, (uint32_t)BROKER_HAS_LEFT) != BROKER_HAS_LEFT) {
        for_each(~0ull, socket_left);
    }
}
