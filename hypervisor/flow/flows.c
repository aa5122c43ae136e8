/* SPDX-License-Identifier: Apache-2.0
 *
 * Socket devices: what their guests do to them, and what becomes of them when a domain ends. Everything is
 * called with interrupts masked, and does bounded work.
 */
#include "flow/flows.h"
#include "core/flow_exchange.h"
#include "core/path_costs.h"
#include "core/spinlock.h"
#include "flow/flow_broker.h"
#include "flow/guest_memory.h"
#include "flow/hypercall_flows.h"
#include "flow/path_stamps.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <stdatomic.h>
#include <string.h>

_Static_assert(BH_MAX_DOMAINS <= FLOW_EXCHANGE_DEVICES && BH_MAX_FLOWS <= FLOW_EXCHANGE_PATHS,
               "one device for each domain");

struct flows flows;

/* Domains, 1 << index, whose device has something to do: each at most once, so that there is at most one
 * request on its way. */
static _Atomic uint32_t awaiting_work;

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
    return flows.exchange.devices[domain->index];
}

static bool init_device(struct domain *domain)
{
    struct vsock_device *device = pool_allocate_bytes(system_pool(), sizeof(struct vsock_device));

    if (device == NULL) {
        return false;
    }
    flows.memories[domain->index].domain = domain;
    vsock_device_init(device, &flows.memories[domain->index], domain->index, domain->config->socket_cid);
    flows.exchange.devices[domain->index] = device;
    return true;
}

void flows_open(uint32_t number, const struct manifest_flow *flow)
{
    const struct flow_path_parameters parameters = {
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
    flow_exchange_open(&flows.exchange, number, &parameters);
}

static bool init_devices(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (domain_at(i)->config->socket_cid != 0 && !init_device(domain_at(i))) {
            return false;
        }
    }
    return true;
}

bool flows_init_all(void)
{
    const struct manifest_flow *configured = manifest_flows(system_manifest());

    memset(&flows, 0, sizeof(flows));
    flows.exchange.paths = flows.paths;
    guest_memory_init();
    if (there_are_flows()) {
        if (!init_devices() || !flow_broker_init() || !path_stamps_init()) {
            return false;
        }
        for (uint32_t i = 0; i < system_manifest()->flows.count; i++) {
            flows_open(i, &configured[i]);
        }
    }
    return hypercall_flows_init();
}

/* Interrupt lines as the devices have them now. */
static void set_lines(uint32_t lines)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct vsock_device *device = flows.exchange.devices[i];

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

/* The VCPU in whose time work of the domain's device is done, NULL: none is on. */
static const struct vcpu *worker_of(const struct domain *domain)
{
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if (atomic_load(&domain->vcpus[i].power) == VCPU_ON) {
            return &domain->vcpus[i];
        }
    }
    return NULL;
}

static bool awaits_work(const struct domain *domain)
{
    return (atomic_load(&awaiting_work) >> domain->index & 1) != 0;
}

static void tell_worker(const struct domain *domain)
{
    const struct vcpu *worker = worker_of(domain);

    if (worker != NULL) {
        cpu_send_request(worker->cpu, CPU_REQUEST_FLOWS);
    }
}

static void ask_for_work(const struct domain *domain)
{
    uint32_t before = atomic_fetch_or(&awaiting_work, 1u << domain->index);

    if ((before >> domain->index & 1) == 0) {
        tell_worker(domain);
    }
}

void flows_apply_effects(const struct flow_effects *effects)
{
    set_lines(effects->lines);
    for (uint32_t i = 0; i < domain_count(); i++) {
        if ((effects->attend >> i & 1) != 0) {
            ask_for_work(domain_at(i));
        }
    }
    if (effects->wake) {
        path_stamps_wake(effects->queued_at);
        flow_broker_wake();
    }
}

void flows_close(uint32_t number)
{
    struct flow_effects effects = {0};

    system_status()->flows[number].state = BH_FLOW_STATE_CLOSED;
    flow_exchange_close(&flows.exchange, number, &effects);
    flows_apply_effects(&effects);
}

/* Of a set of flows, 1 << number. */
static void publish_refused(uint64_t numbers)
{
    for (; numbers != 0; numbers &= numbers - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(numbers);

        spin_lock(&flows.paths[i].lock);
        system_status()->flows[i].refused = flows.paths[i].refused;
        spin_unlock(&flows.paths[i].lock);
    }
}

static void process_tx(const struct domain *domain)
{
    struct flow_effects effects = {0};

    flow_exchange_process_tx(&flows.exchange, domain->index, clock_now(), &effects);
    publish_refused(effects.refused);
    flows_apply_effects(&effects);
}

bool flows_has_work(const struct vcpu *vcpu)
{
    return awaits_work(vcpu->domain) && worker_of(vcpu->domain) == vcpu;
}

void flows_work(const struct domain *domain)
{
    atomic_fetch_and(&awaiting_work, ~(1u << domain->index)); /* first: what comes from now on is asked for */
    process_tx(domain);
}

/* The worker may have changed since the request was sent: then it goes on to the other's core. */
void flows_handle_request(struct cpu *cpu)
{
    if ((cpu->hold & CPU_HOLD_THROTTLED) != 0) {
        return; /* it has nothing to do it on: vcpu_run.c asks again */
    }
    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct domain *domain = domain_at(i);

        if (!awaits_work(domain) || !domain_is_on(domain, cpu)) {
            continue;
        }
        if (cpu->pinned != NULL && flows_has_work(cpu->pinned)) {
            flows_work(domain);
        } else {
            const struct vcpu *worker = worker_of(domain);

            if (worker != NULL && worker->cpu != cpu) {
                cpu_send_request(worker->cpu, CPU_REQUEST_FLOWS);
            }
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

    flow_exchange_lose(&flows.exchange, domain->index, &effects);
    flows_apply_effects(&effects);
}

/* Other VCPUs of the domain may wait for that, too. */
static void stop_is_over(const struct domain *domain)
{
    uint32_t before = atomic_fetch_and(&flows.stopping, ~flow_device_set(domain->index));

    if ((before & flow_device_set(domain->index)) != 0) {
        domain_tell_cores(domain);
    }
}

/* The driver stops its device, or one of its queues. When its write is done it may use its buffers for other
 * things: not before the transfer is done that may be under way. False: it is to write again then. */
static bool stop(struct domain *domain)
{
    struct vsock_device *device = device_of(domain);

    lose(domain);
    if (flow_exchange_touches(&flows.exchange, domain->index)) {
        atomic_fetch_or(&flows.stopping, flow_device_set(domain->index));
        return false;
    }
    stop_is_over(domain);
    vsock_device_lock(device);
    if (device->mmio.device.stopping) {
        vsock_device_reset(device);
    } else {
        virtio_device_retire(&device->mmio.device);
    }
    vgic_set_spi_level(domain, domain->config->socket_irq, vsock_device_interrupts(device));
    vsock_device_unlock(device);
    return true;
}

/* The rest of a page behind the registers reads as zero. */
bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;
    struct vsock_device *device = device_of(domain);
    enum virtio_mmio_event event = VIRTIO_MMIO_NOTHING;
    bool runs;
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
    runs = atomic_load(&domain->state) == BH_DOMAIN_STATE_RUNNING;
    if (!runs) {
        access->value = 0; /* it ends, and this VCPU has not yet heard of it */
        done = true;
    } else if (access->write) {
        done = virtio_mmio_write(&device->mmio, device->memory, (uint32_t)access->offset, access->bytes,
                                 access->value, &event, &queue);
    } else {
        done = virtio_mmio_read(&device->mmio, (uint32_t)access->offset, access->bytes, &access->value);
    }
    stopping = device->mmio.device.stopping || device->mmio.device.retiring != 0;
    vgic_set_spi_level(domain, domain->config->socket_irq, vsock_device_interrupts(device));
    vsock_device_unlock(device);
    if (event != VIRTIO_MMIO_NOTIFIED || queue != VSOCK_QUEUE_TX) {
        path_drop(BH_PATH_PART_TRANSPORT);
    }
    if (!done || !runs) {
        return done;
    }
    if (stopping) { /* what another VCPU reads meanwhile is of the device after its reset */
        access->again = !stop(domain) || !access->write;
    } else if (event != VIRTIO_MMIO_NOTHING) {
        process_tx(domain);
    }
    return true;
}

void flows_domain_stopped(struct domain *domain)
{
    struct vsock_device *device;

    if (!there_are_flows()) {
        return;
    }
    hypercall_flows_domain_stopped(domain);
    if (flows_is_broker(domain)) {
        flow_broker_stop();
        return;
    }
    device = device_of(domain);
    if (device != NULL) {
        vsock_device_lock(device);
        virtio_device_set_status(&device->mmio.device, 0);
        vsock_device_unlock(device);
        stop_is_over(domain);
        lose(domain);
    }
}

void flows_vcpu_off(const struct vcpu *vcpu)
{
    if (flows_is_broker(vcpu->domain)) {
        flow_broker_vcpu_off();
    } else if (awaits_work(vcpu->domain)) {
        tell_worker(vcpu->domain);
    }
}

bool flows_touch(const struct domain *domain)
{
    return there_are_flows() && flow_exchange_touches(&flows.exchange, domain->index);
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
