/* SPDX-License-Identifier: Apache-2.0
 *
 * Socket devices and the broker's calls. Everything is called with interrupts masked, and does bounded work.
 */
#include "flows.h"
#include "clock.h"
#include "core/flow_exchange.h"
#include "core/path_costs.h"
#include "core/spinlock.h"
#include "cpu.h"
#include "domain.h"
#include "flow_engine.h"
#include "guest_memory.h"
#include "hypercall_flows.h"
#include "path_stamps.h"
#include "ptable.h"
#include "stage2.h"
#include "system.h"
#include "vgic.h"
#include <arch/barrier.h>
#include <stdatomic.h>
#include <string.h>

/* A driver that stops its device waits so long for the transfer that may be under way; then it must ask
 * again.
 */
#define STOP_NS 2000000ull

_Static_assert(BH_MAX_DOMAINS <= FLOW_EXCHANGE_DEVICES && BH_MAX_FLOWS <= FLOW_EXCHANGE_PATHS,
               "one device for each domain");

static struct flow_exchange exchange;
static struct flow_path paths[BH_MAX_FLOWS];
static struct guest_memory memories[BH_MAX_DOMAINS];
static uint64_t sleeps_until = PACKET_NEVER; /* what the broker was told when there was nothing to do, */
static bool sleeps;                          /* as there was at its latest call; of its core alone */
static struct spinlock broker_lock; /* of what the broker has in hand: it calls, and somebody may end it */

static bool abandoned; /* the broker that asked for what its engine does is gone; under that lock */

/* Where the broker looks whether it has been woken: guest-physical address, 0: it waits for its line. */
static _Atomic uint64_t wake_word;

static const struct manifest_broker *broker_of_manifest(void)
{
    return &system_manifest()->broker;
}

static bool there_are_flows(void)
{
    return system_manifest()->flows.count != 0;
}

static struct vsock_device *device_of(const struct domain *domain)
{
    return exchange.devices[domain->index];
}

static bool init_device(struct domain *domain)
{
    struct vsock_device *device = pool_allocate_bytes(system_pool(), sizeof(struct vsock_device));

    if (device == NULL) {
        return false;
    }
    memories[domain->index].domain = domain;
    vsock_device_init(device, &memories[domain->index], domain->index, domain->config->socket_cid);
    exchange.devices[domain->index] = device;
    return true;
}

/* The broker finds a domain's memory where it is physically, behind BH_BROKER_WINDOW. One that has an engine
 * copies nothing itself, and sees nothing. */
static bool show_to_broker(struct domain *broker, const struct domain *domain)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->config->first_segment;

    if (flow_engine_exists()) {
        return true;
    }
    for (uint32_t i = 0; i < domain->config->segment_count; i++) {
        if (!stage2_map_window(&broker->stage2, system_pool(), &segments[i], BH_BROKER_WINDOW)) {
            return false;
        }
    }
    return true;
}

void flows_open(uint32_t number, const struct manifest_flow *flow)
{
    const struct flow_path_terms terms = {
        .source = flow->source,
        .destination = flow->destination,
        .port = flow->port,
        .most_bytes = flow->packet_bytes,
        .period_ticks = clock_ticks(flow->period_ns),
        .deadline_ticks = clock_ticks(flow->deadline_ns),
        .queued_ticks = clock_ticks(flow_queued_ns(flow->deadline_ns, manifest_costs(system_manifest()))),
    };
    struct status_flow *status = &system_status()->flows[number];

    memset(status, 0, sizeof *status);
    status->source = flow->source;
    status->destination = flow->destination;
    status->port = flow->port;
    status->packet_bytes = flow->packet_bytes;
    status->period_ns = flow->period_ns;
    status->deadline_ns = flow->deadline_ns;
    status->state = BH_FLOW_STATE_OPEN;
    flow_exchange_open(&exchange, number, &terms);
}

bool flows_is_unused(uint32_t number)
{
    bool unused;

    spin_lock(&broker_lock);
    unused = flow_exchange_is_unused(&exchange, number);
    spin_unlock(&broker_lock);
    return unused;
}

bool flows_init_all(void)
{
    const struct manifest_broker *broker = broker_of_manifest();
    const struct manifest_flow *flows = manifest_flows(system_manifest());

    memset(&exchange, 0, sizeof(exchange));
    guest_memory_init();
    if (!there_are_flows()) {
        return hypercall_flows_init();
    }
    flow_engine_init();
    abandoned = false;
    atomic_store(&wake_word, 0);
    memories[broker->domain].domain = domain_at(broker->domain);
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct domain *domain = domain_at(i);

        if (domain->config->socket_cid != 0 &&
            (!init_device(domain) || !show_to_broker(domain_at(broker->domain), domain))) {
            return false;
        }
    }
    if (!path_stamps_init()) {
        return false;
    }
    memset(paths, 0, sizeof(paths));
    exchange.paths = paths;
    for (uint32_t i = 0; i < system_manifest()->flows.count; i++) {
        flows_open(i, &flows[i]);
    }
    exchange.chunk_bytes = broker->chunk_bytes;
    exchange.patience_ticks = clock_ticks(broker->patience_ns);
    if (broker->bytes_per_s != 0) {
        exchange.ticks_per_mebibyte =
            ((1ull << 20) * clock_hz() + broker->bytes_per_s - 1) / broker->bytes_per_s;
    }
    return hypercall_flows_init();
}

/* Interrupt lines as the devices have them now. */
static void set_lines(uint32_t lines)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct vsock_device *device = exchange.devices[i];

        if ((lines >> i & 1) != 0 && device != NULL) {
            spin_lock(&device->lock);
            if (vsock_device_interrupts(device)) {
                path_stamps_raise(i);
            }
            vgic_set_spi_level(domain_at(i), domain_at(i)->config->socket_irq,
                               vsock_device_interrupts(device));
            spin_unlock(&device->lock);
        }
    }
}

/* A broker that waits for events sees the word when one ends its waiting; another one sees its line. */
static void tell_broker(struct domain *broker)
{
    const uint32_t woken = 1;
    uint64_t word = atomic_load(&wake_word);

    if (word == 0) {
        vgic_set_spi_level(broker, broker->config->socket_irq, true);
        return;
    }
    (void)guest_memory_write(&memories[broker->index], word, &woken, sizeof(woken));
    arch_sev();
}

/* There is something new for it to look at. While its engine runs it could do nothing about it, and it will
 * look when that has ended: either it sees what came before this, or this sees that the engine has ended. */
static void wake_broker(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!flow_engine_runs()) {
        tell_broker(domain_at(broker_of_manifest()->domain));
    }
}

static void obey(const struct flow_effects *effects)
{
    set_lines(effects->lines);
    for (uint32_t i = 0; i < domain_count(); i++) {
        if ((effects->look >> i & 1) != 0) {
            cpu_send_request(domain_at(i)->vcpus[0].cpu, CPU_REQUEST_FLOWS);
        }
    }
    if (effects->wake) {
        path_stamps_wake(effects->queued_at);
        wake_broker();
    }
}

void flows_close(uint32_t number)
{
    struct flow_effects effects = {0};

    system_status()->flows[number].state = BH_FLOW_STATE_CLOSED;
    flow_exchange_close(&exchange, number, &effects);
    obey(&effects);
}

/* Of a set of flows, 1 << number. */
static void publish_refused(uint64_t flows)
{
    for (; flows != 0; flows &= flows - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(flows);

        spin_lock(&paths[i].lock);
        system_status()->flows[i].refused = paths[i].refused;
        spin_unlock(&paths[i].lock);
    }
}

static void attend(const struct domain *domain)
{
    struct flow_effects effects = {0};

    flow_exchange_attend(&exchange, domain->index, clock_now(), &effects);
    publish_refused(effects.refused);
    obey(&effects);
}

void flows_attend(struct cpu *cpu)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (exchange.devices[i] != NULL && domain_at(i)->vcpus[0].cpu == cpu) {
            attend(domain_at(i));
        }
    }
}

bool flows_is_broker(const struct domain *domain)
{
    return there_are_flows() && domain->index == broker_of_manifest()->domain;
}

bool flows_device_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    *offset = page - domain->config->socket_ipa;
    return *offset < BH_PAGE_BYTES && domain->config->socket_cid != 0;
}

static void lose(const struct domain *domain)
{
    struct flow_effects effects = {0};

    flow_exchange_lose(&exchange, domain->index, &effects);
    obey(&effects);
}

/* The driver has stopped its device. When it sees that in the status, it may use its buffers for other
 * things: not before the transfer is done that may be under way. */
static void stop(struct domain *domain)
{
    uint64_t until = clock_now() + clock_ticks(STOP_NS);

    lose(domain);
    while (flow_exchange_touches(&exchange, domain->index)) {
        if (clock_now() > until) {
            return;
        }
    }
    flows_domain_reset(domain);
}

static void after_write(struct domain *domain, enum virtio_mmio_event event, bool stopping)
{
    if (stopping) {
        stop(domain);
    } else if (event != VIRTIO_MMIO_NOTHING) {
        attend(domain);
    }
}

/* The rest of a page behind the registers reads as zero. */
bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;
    struct vsock_device *device = device_of(domain);
    enum virtio_mmio_event event = VIRTIO_MMIO_NOTHING;
    bool stopping;
    uint32_t queue = 0;
    bool done;

    if (access->offset >= VIRTIO_MMIO_BYTES) {
        access->value = 0;
        return true;
    }
    if (!access->write && access->offset == VIRTIO_MMIO_INTERRUPT_STATUS) {
        path_stamps_heard(domain->index);
    }
    path_open(BH_PATH_PART_TRANSPORT);
    vsock_device_lock(device);
    if (access->write) {
        done = virtio_mmio_write(&device->mmio, device->memory, (uint32_t)access->offset, access->bytes,
                                 access->value, &event, &queue);
    } else {
        done = virtio_mmio_read(&device->mmio, (uint32_t)access->offset, access->bytes, &access->value);
    }
    stopping = device->mmio.device.stopping;
    if (stopping && !access->write && !flow_exchange_touches(&exchange, domain->index)) {
        vsock_device_reset(device); /* it asks whether the reset is done, which took long */
        access->value = 0;
    }
    vgic_set_spi_level(domain, domain->config->socket_irq, vsock_device_interrupts(device));
    vsock_device_unlock(device);
    if (event != VIRTIO_MMIO_NOTIFIED || queue != VSOCK_QUEUE_TX) {
        path_drop(BH_PATH_PART_TRANSPORT);
    }
    if (done && access->write) {
        after_write(domain, event, stopping);
    }
    return done;
}

/* Domains that start again wait until nothing touches their memory. */
static void tell_restarting(const struct flow_transfer *transfer)
{
    const uint32_t ends[] = {transfer->source, transfer->destination};

    for (uint32_t i = 0; i < 2; i++) {
        struct domain *domain = domain_at(ends[i]);

        if (atomic_load(&domain->state) == BH_DOMAIN_STATE_RESTARTING) {
            cpu_send_request(domain->vcpus[0].cpu, CPU_REQUEST_VCPU_POWER);
        }
    }
}

/* Of a set of flows, 1 << number. On the broker's core. */
static void publish_statistics(uint64_t flows)
{
    for (; flows != 0; flows &= flows - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(flows);
        const struct flow_path_statistics *from = &paths[i].statistics;
        struct status_flow *status = &system_status()->flows[i];

        status->packets = from->packets;
        status->bytes = from->bytes;
        status->control_packets = from->control_packets;
        status->misses = from->misses;
        status->latency_max_ticks = from->latency_most;
        status->latency_sum_ticks = from->latency_total;
        status->lost = from->lost;
    }
}

/* What the broker had in hand is not done. Under its lock. */
static void drop_hand(struct flow_effects *effects)
{
    struct flow_transfer before = exchange.hand.transfer;

    flow_exchange_stop(&exchange, effects);
    tell_restarting(&before);
}

/* The engine, as it is now; what it has done for a broker that is gone is nobody's to hear. */
static enum flow_engine_state look_at_engine(struct flow_effects *effects)
{
    enum flow_engine_state state = flow_engine_look();

    if (state != FLOW_ENGINE_RUNS && abandoned) {
        abandoned = false;
        flow_engine_forget();
        drop_hand(effects);
        state = FLOW_ENGINE_IDLE;
    }
    return state;
}

bool flows_engine_interrupt(uint32_t intid)
{
    struct flow_effects effects = {0};
    enum flow_engine_state state;

    if (!flow_engine_has(intid)) {
        return false;
    }
    spin_lock(&broker_lock);
    state = look_at_engine(&effects);
    spin_unlock(&broker_lock);
    obey(&effects);
    if (state != FLOW_ENGINE_RUNS) {
        tell_broker(domain_at(broker_of_manifest()->domain));
    }
    return true;
}

static void end_transfer(enum flow_engine_state state, struct flow_effects *effects)
{
    if (state == FLOW_ENGINE_FAILED) {
        flow_exchange_fail(&exchange, effects);
    } else {
        flow_exchange_done(&exchange, clock_now(), effects);
    }
    flow_engine_forget();
    publish_statistics(effects->counted);
}

/* The transfer before is done: its ends hear of it before anything else is looked for. False: the engine is
 * still at it. */
static bool finish_transfer(const struct domain *broker)
{
    struct flow_effects effects = {0};
    struct flow_transfer before;
    enum flow_engine_state state;

    spin_lock(&broker_lock);
    before = exchange.hand.transfer;
    state = look_at_engine(&effects);
    if (state != FLOW_ENGINE_RUNS && exchange.hand.transfers &&
        atomic_load(&broker->state) == BH_DOMAIN_STATE_RUNNING) {
        end_transfer(state, &effects);
    }
    spin_unlock(&broker_lock);
    tell_restarting(&before);
    obey(&effects);
    return state != FLOW_ENGINE_RUNS;
}

/* One that is being ended gets nothing any more. */
static enum flow_next next_of(const struct vcpu *vcpu, struct flow_transfer *transfer, uint64_t *until,
                              struct flow_effects *effects)
{
    enum flow_next answer = FLOW_NEXT_NOTHING;

    *until = PACKET_NEVER;
    spin_lock(&broker_lock);
    if (atomic_load(&vcpu->domain->state) == BH_DOMAIN_STATE_RUNNING) {
        answer = flow_exchange_next(&exchange, clock_now(), transfer, until, effects);
        publish_statistics(effects->counted);
        if (answer == FLOW_NEXT_TRANSFER && flow_engine_exists()) {
            flow_engine_start(vcpu->cpu, transfer);
        }
    }
    spin_unlock(&broker_lock);
    return answer;
}

/* The parts of the path that end with the broker's call. */
static void stamp_answer(enum flow_next answer, uint64_t until)
{
    sleeps = answer == FLOW_NEXT_NOTHING;
    sleeps_until = until;
    if (sleeps) {
        path_drop(BH_PATH_PART_PROGRAM_DMA);
    }
    path_close(BH_PATH_PART_PROGRAM_DMA, 0);
    path_close(BH_PATH_PART_FINALIZE, 0);
    if (answer == FLOW_NEXT_TRANSFER) {
        path_open(BH_PATH_PART_ENGINE);
    }
}

/* Before it looks: what comes afterwards wakes it. False: the word is not of its memory. */
static bool set_waiting(struct domain *broker, uint64_t word)
{
    if (word == 0) {
        vgic_set_spi_level(broker, broker->config->socket_irq, false);
    } else if (word % sizeof(uint32_t) != 0 ||
               !guest_memory_owns(&memories[broker->index], word, sizeof(uint32_t))) {
        return false;
    }
    atomic_store(&wake_word, word);
    return true;
}

static void give_answer(uint64_t x[31], enum flow_next answer, const struct flow_transfer *transfer,
                        uint64_t until)
{
    x[0] = 0;
    switch (answer) {
    case FLOW_NEXT_TRANSFER:
        x[1] = BH_BROKER_ANSWER_TRANSFER;
        x[2] = transfer->from;
        x[3] = transfer->to;
        x[4] = transfer->bytes;
        break;
    case FLOW_NEXT_AGAIN:
        x[1] = BH_BROKER_ANSWER_AGAIN;
        break;
    default:
        x[1] = BH_BROKER_ANSWER_NOTHING;
        x[2] = until;
        break;
    }
}

void flows_broker_next(const struct vcpu *vcpu, uint64_t x[31])
{
    struct flow_effects effects = {0};
    struct flow_transfer transfer;
    enum flow_next answer;
    uint64_t until;

    if (!set_waiting(vcpu->domain, x[1])) {
        x[0] = (uint64_t) - (int64_t)BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
        return;
    }
    give_answer(x, FLOW_NEXT_NOTHING, NULL, PACKET_NEVER);
    if (exchange.hand.transfers) {
        path_open(BH_PATH_PART_FINALIZE);
    }
    if (!finish_transfer(vcpu->domain)) {
        path_drop(BH_PATH_PART_FINALIZE);
        return; /* its interrupt says when */
    }
    path_close(BH_PATH_PART_FINALIZE, 0);
    path_stamps_look(sleeps, sleeps_until);
    answer = next_of(vcpu, &transfer, &until, &effects);
    if (answer != FLOW_NEXT_TRANSFER || !flow_engine_exists()) {
        give_answer(x, answer, &transfer, until);
    }
    obey(&effects);
    stamp_answer(answer, until);
}

/* The broker does not run any more. What its engine is at is finished first: until then nobody gets a buffer
 * back that it may touch. */
static void stop_broker(void)
{
    struct flow_effects effects = {0};

    spin_lock(&broker_lock);
    atomic_store(&wake_word, 0);
    if (look_at_engine(&effects) == FLOW_ENGINE_RUNS) {
        abandoned = true;
    } else {
        flow_engine_forget();
        drop_hand(&effects);
    }
    spin_unlock(&broker_lock);
    obey(&effects);
}

void flows_domain_stopped(struct domain *domain)
{
    struct vsock_device *device;

    if (!there_are_flows()) {
        return;
    }
    hypercall_flows_domain_stopped(domain);
    if (flows_is_broker(domain)) {
        stop_broker();
        return;
    }
    device = device_of(domain);
    if (device != NULL) {
        vsock_device_lock(device);
        virtio_device_set_status(&device->mmio.device, 0);
        vsock_device_unlock(device);
        lose(domain);
    }
}

bool flows_touch(const struct domain *domain)
{
    return there_are_flows() && flow_exchange_touches(&exchange, domain->index);
}

void flows_domain_reset(struct domain *domain)
{
    struct vsock_device *device = device_of(domain);

    if (device == NULL || domain->config->socket_cid == 0) { /* none yet, or none at all */
        return;
    }
    vsock_device_lock(device);
    vsock_device_reset(device);
    vgic_set_spi_level(domain, domain->config->socket_irq, false);
    vsock_device_unlock(device);
}
