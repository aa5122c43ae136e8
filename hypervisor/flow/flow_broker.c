/* SPDX-License-Identifier: Apache-2.0
 *
 * Brokers' hypercalls, how each is told of its flows, and the end of each. All functions are called with
 * interrupts masked and do bounded work; the hypercalls run on the broker's own core. What belongs to one
 * broker has its own lock, so that no broker waits for another.
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

struct broker {
    struct spinlock lock; /* protects the rest, the flows in `flows`, and the engine */
    const struct manifest_broker *config;
    struct domain *domain;        /* the broker's own */
    _Atomic uint64_t flows;       /* slots (1 << number) whose flow is this broker's, or the last one was */
    uint64_t not_before;          /* counter value before which the rate permits no further transfer */
    uint32_t opening;             /* of the door, when the engine's transfer began */
    struct door_request request;  /* the latest request for an admission test */
    uint32_t number;              /* of the broker */
    uint32_t flow_changes;        /* changes of its slots together */
    _Atomic uint32_t engine_ends; /* domains (1 << index) whose memory the engine's transfer accesses */
    _Atomic uint32_t leaves;      /* enum broker_leaves */
};

static struct broker brokers[BH_MAX_BROKERS];
static uint32_t broker_count; /* 0: there are no flows */

/* Slots of flows. Each is protected by the lock of the broker that has it. */
static struct {
    struct door_flow flows[BH_MAX_FLOWS];
    struct flow_path_statistics earlier[BH_MAX_FLOWS]; /* statistics of brokers that have ended */
} slots;

_Static_assert(BH_MAX_FLOWS <= 64, "a set of slots is one word");

static bool own_engine(const struct broker *broker)
{
    return broker->config->engine == BH_BROKER_ENGINE_OWN;
}

/* The broker that serves a domain, or whose own domain it is. */
static struct broker *broker_of(const struct domain *domain)
{
    return &brokers[domain->config->socket_broker];
}

static struct broker *broker_of_flow(const struct manifest_flow *flow)
{
    return broker_of(domain_at(flow->source));
}

/* Maps the memory that a broker reaches of a domain, at BH_BROKER_WINDOW + its physical address. Queues,
 * headers and buffers may be anywhere in it. */
static bool map_in_broker(const struct domain *domain)
{
    struct stage2 *stage2 = &broker_of(domain)->domain->stage2;
    const struct manifest_header *manifest = system_manifest();
    struct socket_reach reach = socket_reach_of(manifest, domain->config);
    const struct manifest_segment *segments = manifest_segments(manifest) + reach.first_segment;

    for (uint32_t i = 0; i < reach.segment_count; i++) {
        if (!stage2_map_window(stage2, &segments[i], BH_BROKER_WINDOW)) {
            return false;
        }
    }
    return true;
}

bool flow_broker_init(void)
{
    const struct manifest_header *manifest = system_manifest();

    memset(brokers, 0, sizeof(brokers));
    memset(&slots, 0, sizeof(slots));
    for (broker_count = 0; manifest_has_broker(manifest, broker_count); broker_count++) {
        struct broker *broker = &brokers[broker_count];

        broker->number = broker_count;
        broker->config = manifest_broker_at(manifest, broker_count);
        broker->domain = domain_at(broker->config->domain);
        flow_engine_init(broker_count);
    }
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (domain_at(i)->config->socket_cid != 0 && !map_in_broker(domain_at(i))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < manifest->flows.count; i++) {
        flows_open(i, &manifest_flows(manifest)[i]);
    }
    return true;
}

/* Flows */

static uint64_t slot_set(uint32_t number)
{
    return 1ull << number;
}

/* Writes one of the broker's flows to its door. Called under the lock. */
static void write_flow(const struct broker *broker, uint32_t number)
{
    struct broker_door *door = door_here(broker->number);
    struct door_flow *to;

    if (door == NULL) {
        return;
    }
    to = &door->flows[number];
    to->deadline_ns = slots.flows[number].deadline_ns;
    to->ends_ns = slots.flows[number].ends_ns;
    to->parameters = slots.flows[number].parameters;
    __atomic_store_n(&to->changes, slots.flows[number].changes, __ATOMIC_RELEASE);
    __atomic_store_n(&door->flow_changes, broker->flow_changes, __ATOMIC_RELEASE);
    door_wake(broker->number, door);
}

/* Writes the request for an admission test to the door, its number last: a broker that sees the new number
 * sees the new flow. Called under the lock. */
static void write_request(const struct broker *broker)
{
    struct broker_door *door = door_here(broker->number);
    struct door_request request = broker->request;

    if (door == NULL) {
        return;
    }
    request.number = door->request.number;
    door->request = request;
    __atomic_store_n(&door->request.number, broker->request.number, __ATOMIC_RELEASE);
    door_wake(broker->number, door);
}

/* Most transfers for a packet of the flow, as it was admitted; 0 if they were not counted. */
static uint32_t most_transfers(const struct manifest_broker *config, const struct manifest_flow *flow)
{
    const struct flow_costs *costs = manifest_costs(config);
    bool counted = costs->model == BH_FLOW_MODEL_SINGLE_THREAD;
    bool copied = flow_is_copied(costs, flow->packet_bytes);

    return flow->transfers != 0 || !counted
               ? flow->transfers
               : (uint32_t)flow_most_transfers(flow->packet_bytes, config->chunk_bytes,
                                               copied ? 0 : config->run_bytes);
}

/* The flow in a slot is opened or closed. Called under the lock. */
static void count_change(struct broker *broker, uint32_t number)
{
    slots.flows[number].changes++;
    broker->flow_changes++;
    write_flow(broker, number);
}

/* A slot may have had a flow of another broker, which has left it. */
static void take_slot(struct broker *broker, uint32_t number)
{
    for (uint32_t i = 0; i < broker_count; i++) {
        if (i != broker->number) {
            spin_lock(&brokers[i].lock);
            atomic_fetch_and(&brokers[i].flows, ~slot_set(number));
            spin_unlock(&brokers[i].lock);
        }
    }
    spin_lock(&broker->lock);
    atomic_fetch_or(&broker->flows, slot_set(number));
}

static uint32_t at_most_u32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* What EL2's own interrupts may add at both ends of the flow. */
static uint32_t ends_ns(const struct manifest_flow *flow)
{
    return domain_at(flow->source)->config->interrupted_ns +
           domain_at(flow->destination)->config->interrupted_ns;
}

void flows_open(uint32_t number, const struct manifest_flow *flow)
{
    struct broker *broker = broker_of_flow(flow);
    const struct flow_costs *costs = manifest_costs(broker->config);
    struct status_flow *status = &system_status()->flows[number];
    uint64_t replaced_misses = (uint64_t)status->replaced_misses + status->misses;

    memset(status, 0, sizeof *status);
    status->replaced_misses = at_most_u32(replaced_misses);
    status->source = (uint16_t)flow->source;
    status->destination = (uint16_t)flow->destination;
    status->port = flow->port;
    status->packet_bytes = flow->packet_bytes;
    status->period_ns = flow->period_ns;
    status->deadline_ns = flow->deadline_ns;
    status->state = BH_FLOW_STATE_OPEN;
    take_slot(broker, number);
    slots.earlier[number] = (struct flow_path_statistics){0};
    slots.flows[number].deadline_ns = flow->deadline_ns;
    slots.flows[number].ends_ns = ends_ns(flow);
    slots.flows[number].parameters = (struct flow_path_parameters){
        .source = flow->source,
        .destination = flow->destination,
        .port = flow->port,
        .most_bytes = flow->packet_bytes,
        .period_ns = flow->period_ns,
        /* rounded down: a sender that keeps its period must not fall behind the pace by a part of a tick with
         * each packet */
        .period_ticks = clock_whole_ticks(flow->period_ns),
        .deadline_ticks = clock_whole_ticks(flow_moved_ns(flow->deadline_ns, ends_ns(flow), costs)),
        .most_transfers = most_transfers(broker->config, flow),
        .connections = flow->connections,
        .answers = flow->answers,
        .group = flow->group,
        .queued_ticks = clock_ticks(flow_queued_ns(flow->deadline_ns, ends_ns(flow), costs)),
    };
    count_change(broker, number);
    spin_unlock(&broker->lock);
}

void flows_close(uint32_t number)
{
    struct broker *broker = broker_of(domain_at(slots.flows[number].parameters.source));

    system_status()->flows[number].state = BH_FLOW_STATE_CLOSED;
    spin_lock(&broker->lock);
    count_change(broker, number);
    spin_unlock(&broker->lock);
}

void flows_request_test(uint32_t number, const struct manifest_flow *flow)
{
    struct broker *broker = broker_of_flow(flow);

    spin_lock(&broker->lock);
    broker->request = (struct door_request){
        .number = broker->request.number + 1,
        .flow = number,
        .source = flow->source,
        .destination = flow->destination,
        .packet_bytes = flow->packet_bytes,
        .transfers = flow->transfers,
        .period_ns = flow->period_ns,
        .deadline_ns = flow->deadline_ns,
        .ends_ns = ends_ns(flow),
    };
    write_request(broker);
    spin_unlock(&broker->lock);
}

void flows_cancel_test(const struct manifest_flow *flow)
{
    struct broker *broker = broker_of_flow(flow);

    spin_lock(&broker->lock);
    broker->request.number++;
    broker->request.flow = BH_MAX_FLOWS;
    write_request(broker);
    spin_unlock(&broker->lock);
}

bool flows_test_answer(const struct manifest_flow *flow, struct door_answer *answer)
{
    struct broker *broker = broker_of_flow(flow);
    const struct broker_reply *reply;
    bool answered;

    spin_lock(&broker->lock);
    reply = door_reply_here(broker->number);
    answered =
        reply != NULL && __atomic_load_n(&reply->answer.number, __ATOMIC_ACQUIRE) == broker->request.number;
    if (answered) {
        *answer = reply->answer;
    }
    spin_unlock(&broker->lock);
    return answered;
}

bool flows_is_unused(uint32_t number)
{
    struct broker *broker = broker_of(domain_at(slots.flows[number].parameters.source));
    const struct broker_reply *reply;
    uint32_t changes;
    bool unused;

    spin_lock(&broker->lock);
    reply = door_reply_here(broker->number);
    changes = slots.flows[number].changes;
    unused = changes == 0 ||
             (changes % 2 == 0 &&
              (reply == NULL || __atomic_load_n(&reply->flow_changes[number], __ATOMIC_ACQUIRE) == changes));
    spin_unlock(&broker->lock);
    return unused;
}

bool flows_can_be_tested(const struct manifest_flow *flow)
{
    return broker_of_flow(flow)->config->bytes_per_s != 0;
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

/* Publishes the broker's statistics of its own flows in a set (1 << number). */
static void publish_statistics(const struct broker *broker, const struct broker_reply *reply,
                               uint64_t numbers)
{
    for (numbers &= atomic_load(&broker->flows); numbers != 0; numbers &= numbers - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(numbers);
        struct flow_path_statistics from;
        struct status_flow *status;

        from = reply->statistics[i];
        from = sum_of(&slots.earlier[i], &from);
        status = &system_status()->flows[i];
        status->packets = from.packets;
        status->bytes = from.bytes;
        status->control_packets = from.control_packets;
        status->misses = at_most_u32(from.misses);
        status->latency_min_ticks = at_most_u32(from.latency_least);
        status->latency_max_ticks = from.latency_most;
        status->latency_sum_ticks = from.latency_total;
        status->lost = from.lost;
        status->refused = from.refused;
        status->unread = at_most_u32(from.unread);
    }
}

/* Calls */

static uint64_t failure(enum bh_hypercall_error error)
{
    return (uint64_t) - (int64_t)error;
}

static enum bh_hypercall_error open_door(struct broker *broker, const uint64_t x[31])
{
    if (x[2] > 1 || !door_open(broker->number, broker->domain, x[1], x[2] == 1)) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    /* A stop changes the state first, and then closes the door, perhaps before it was open. */
    if (atomic_load(&broker->domain->state) != BH_DOMAIN_STATE_RUNNING) {
        door_close(broker->number);
        return BH_HYPERCALL_ERROR_NONE; /* the broker's core is about to leave it */
    }
    sockets_tell_all(broker->number);
    spin_lock(&broker->lock);
    for (uint64_t left = atomic_load(&broker->flows); left != 0; left &= left - 1) {
        write_flow(broker, (uint32_t)__builtin_ctzll(left));
    }
    write_request(broker);
    spin_unlock(&broker->lock);
    return BH_HYPERCALL_ERROR_NONE;
}

/* The socket device of a domain that the broker serves; NULL: it serves no such domain. */
static struct socket_device *served(const struct broker *broker, const struct domain *domain)
{
    struct socket_device *device = socket_of(domain);

    return device != NULL && device->broker == broker->number ? device : NULL;
}

/* Calls `act` for the domains of a set that the broker serves, and skips others. */
static void for_each(const struct broker *broker, uint64_t set, void (*act)(struct domain *domain))
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if ((set >> i & 1) != 0 && served(broker, domain_at(i)) != NULL) {
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

static enum bh_hypercall_error notify(struct broker *broker, const uint64_t x[31])
{
    const struct broker_reply *reply = door_reply_here(broker->number);

    if (reply == NULL) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    door_heard(broker->number);
    publish_statistics(broker, reply, x[4]);
    for_each(broker, x[1], interrupt);
    for_each(broker, x[2], fail);
    for_each(broker, x[3], socket_left);
    return BH_HYPERCALL_ERROR_NONE;
}

/* Translates one side of a transfer, at guest-physical address `at` of a domain that the broker serves.
 * Returns the number of contiguous bytes, at most `bytes`; 0 if the broker does not serve the domain or the
 * device does not reach the memory. */
static uint64_t physical_run(const struct broker *broker, uint64_t domain, uint64_t at, uint64_t bytes,
                             uint64_t *physical)
{
    const struct socket_device *device;

    if (domain >= domain_count()) {
        return 0;
    }
    device = served(broker, domain_at((uint32_t)(domain & arch_index_mask(domain, domain_count()))));
    return device != NULL && guest_memory_owns(&device->memory, at, bytes)
               ? guest_memory_run(&device->memory, at, bytes, physical)
               : 0;
}

static uint64_t ticks_at_rate(const struct broker *broker, uint64_t bytes)
{
    uint64_t rate = broker->config->bytes_per_s;

    return rate == 0 ? 0 : (bytes * clock_hz() + rate - 1) / rate;
}

/* Starts a transfer. x1, x2: source domain and address; x3, x4: destination; x5: bytes. Copies as much as is
 * contiguous on both sides. */
static enum bh_hypercall_error copy(struct broker *broker, const struct vcpu *vcpu, uint64_t x[31])
{
    struct engine_transfer transfer;
    uint64_t bytes = x[5];
    uint64_t run;
    uint64_t now = clock_now();

    if (!flow_engine_exists(broker->number) || bytes == 0 || bytes > broker->config->chunk_bytes) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    run = physical_run(broker, x[1], x[2], bytes, &transfer.from);
    bytes = physical_run(broker, x[3], x[4], bytes, &transfer.to);
    bytes = run < bytes ? run : bytes;
    if (bytes == 0) {
        return BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
    }
    transfer.bytes = (uint32_t)bytes;
    spin_lock(&broker->lock);
    if (flow_engine_runs(broker->number) || now < broker->not_before) {
        bytes = 0; /* one transfer at a time, and none before the rate permits it */
    } else {
        atomic_store(&broker->engine_ends, 1u << x[1] | 1u << x[3]);
        broker->not_before = now + ticks_at_rate(broker, bytes);
        broker->opening = door_opening(broker->number);
        flow_engine_start(broker->number, vcpu->cpu, &transfer);
    }
    spin_unlock(&broker->lock);
    x[1] = bytes;
    x[2] = broker->not_before;
    return BH_HYPERCALL_ERROR_NONE;
}

bool flows_broker_call(const struct vcpu *vcpu, uint64_t x[31])
{
    struct broker *broker = broker_of(vcpu->domain);
    enum bh_hypercall_error error;

    switch ((uint32_t)x[0]) {
    case BH_HYPERCALL_BROKER_OPEN:
        error = open_door(broker, x);
        break;
    case BH_HYPERCALL_BROKER_TELL:
        error = notify(broker, x);
        break;
    case BH_HYPERCALL_BROKER_COPY:
        error = copy(broker, vcpu, x);
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

/* Engines */

/* If the engine's transfer has ended, tells the broker and returns the transfer's domains. A broker that has
 * opened the door since the transfer began is only woken: the transfer is none of its own. Called under the
 * lock. */
static uint32_t poll_engine(struct broker *broker)
{
    enum flow_engine_state state = flow_engine_look(broker->number);
    struct broker_door *door = door_here(broker->number);
    uint32_t ends = atomic_load(&broker->engine_ends);

    if (state != FLOW_ENGINE_ENDED && state != FLOW_ENGINE_FAILED) {
        return 0;
    }
    flow_engine_forget(broker->number);
    atomic_store(&broker->engine_ends, 0);
    if (door != NULL) {
        if (broker->opening == door_opening(broker->number)) {
            __atomic_store_n(&door->engine,
                             state == FLOW_ENGINE_ENDED ? DOOR_ENGINE_DONE : DOOR_ENGINE_FAILED,
                             __ATOMIC_RELEASE);
        }
        door_wake(broker->number, door);
    }
    return ends;
}

static void engine_interrupt(struct broker *broker)
{
    uint32_t ends;

    spin_lock(&broker->lock);
    ends = poll_engine(broker);
    spin_unlock(&broker->lock);
    if (door_reply_here(broker->number) == NULL) {
        for_each(broker, ends, socket_left); /* without a broker, nothing else notifies those who wait */
    }
}

bool flows_engine_interrupt(uint32_t intid)
{
    for (uint32_t i = 0; i < broker_count; i++) {
        if (flow_engine_has(i, intid)) {
            engine_interrupt(&brokers[i]);
            return true;
        }
    }
    return false;
}

bool flow_broker_touches(const struct domain *domain)
{
    const struct broker *broker = broker_of(domain);

    return atomic_load(&broker->leaves) != BROKER_HAS_LEFT ||
           (atomic_load(&broker->engine_ends) >> domain->index & 1) != 0;
}

/* The end */

/* True if the broker may run again: it restarts, or a running manager can restart it. */
static bool may_restart(const struct broker *broker)
{
    bool may = atomic_load(&broker->domain->state) == BH_DOMAIN_STATE_RESTARTING;

    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct domain *other = domain_at(i);

        may = may || (other != broker->domain && domain_has_flag(other, BH_DOMAIN_FLAG_MANAGER) &&
                      atomic_load(&other->state) == BH_DOMAIN_STATE_RUNNING);
    }
    return may;
}

/* The core may learn of the stop, and say that it has left, as soon as it sees the domain's state. */
void flow_broker_stops(const struct domain *domain)
{
    struct broker *broker = broker_of(domain);

    atomic_store(&broker->leaves, own_engine(broker) || this_cpu() != domain->vcpus[0].cpu
                                      ? (uint32_t)BROKER_CORE_LEAVES
                                      : (uint32_t)BROKER_HAS_LEFT);
}

/* A copy on the broker's own core continues until that core has learnt of the stop, and one of its own engine
 * until the SMMU aborts it. A later broker continues from this one's progress; if there can be none, the
 * drivers are notified. */
void flow_broker_stop(const struct domain *domain)
{
    struct broker *broker = broker_of(domain);

    door_close(broker->number);
    sockets_forget_broker(broker->number);
    if (!may_restart(broker)) {
        for_each(broker, ~0ull, fail);
    }
    spin_lock(&broker->lock); /* waits for a core that is writing flows to the door */
    (void)poll_engine(broker);
    spin_unlock(&broker->lock);
    if (atomic_load(&broker->leaves) == BROKER_HAS_LEFT) {
        for_each(broker, ~0ull, socket_left);
    }
}

/* Ticks from `since` to the end of the run, at most UINT32_MAX; 0 if `since` is 0 (nothing was outstanding)
 * or not before the end. */
static uint32_t ticks_since(uint64_t since)
{
    uint64_t ended_at = system_status()->ended_at;
    uint64_t ticks = since != 0 && since < ended_at ? ended_at - since : 0;

    return at_most_u32(ticks);
}

static void broker_ended(const struct broker *broker)
{
    const struct broker_door *door = door_here(broker->number);
    const struct broker_reply *reply = door_reply_here(broker->number);

    system_status()->transfer_ticks[broker->number] = ticks_since(
        flow_engine_exists(broker->number) || reply == NULL ? flow_engine_runs_since(broker->number)
                                                            : reply->transfer_since);
    for (uint32_t i = 0; door != NULL && i < domain_count(); i++) {
        if (served(broker, domain_at(i)) != NULL) {
            system_status()->domains[i].unheard_ticks = ticks_since(door_unheard_since(door, i));
        }
    }
}

void flows_ended(void)
{
    for (uint32_t i = 0; i < broker_count; i++) {
        broker_ended(&brokers[i]);
    }
}

static void save_statistics(struct broker *broker, const struct broker_reply *reply)
{
    spin_lock(&broker->lock);
    for (uint64_t left = atomic_load(&broker->flows); left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        struct flow_path_statistics last = reply->statistics[i];

        slots.earlier[i] = sum_of(&slots.earlier[i], &last);
    }
    spin_unlock(&broker->lock);
}

/* Returns whether it was in state `from`. */
static bool leave(struct broker *broker, enum broker_leaves from, enum broker_leaves to)
{
    uint32_t expected = (uint32_t)from;

    return atomic_compare_exchange_strong(&broker->leaves, &expected, (uint32_t)to);
}

void flow_broker_vcpu_off(const struct domain *domain)
{
    struct broker *broker = broker_of(domain);
    const struct broker_reply *reply = door_keep_progress(broker->number);

    if (reply != NULL) {
        save_statistics(broker, reply);
    }
    if (own_engine(broker)) {
        (void)leave(broker, BROKER_CORE_LEAVES, BROKER_ENGINE_LEAVES);
    } else if (leave(broker, BROKER_CORE_LEAVES, BROKER_HAS_LEFT)) {
        for_each(broker, ~0ull, socket_left);
    }
}

const struct domain *flow_broker_leaving(void)
{
    for (uint32_t i = 0; i < broker_count; i++) {
        const struct domain *domain = brokers[i].domain;

        if (atomic_load(&brokers[i].leaves) == BROKER_ENGINE_LEAVES && this_cpu() == domain->vcpus[0].cpu) {
            return domain; /* a core has at most one broker */
        }
    }
    return NULL;
}

void flow_broker_left(const struct domain *domain)
{
    struct broker *broker = broker_of(domain);

    if (leave(broker, BROKER_ENGINE_LEAVES, BROKER_HAS_LEFT)) {
        for_each(broker, ~0ull, socket_left);
    }
}

void flow_broker_reset(const struct domain *domain)
{
    struct broker *broker = broker_of(domain);

    if (atomic_exchange(&broker->leaves, (uint32_t)BROKER_HAS_LEFT) != BROKER_HAS_LEFT) {
        for_each(broker, ~0ull, socket_left);
    }
}
