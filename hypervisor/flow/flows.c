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

/* A driver that stops its device waits so long for the transfer that may be under way; then it must ask
 * again.
 */
#define STOP_NS 2000000ull

_Static_assert(BH_MAX_DOMAINS <= FLOW_EXCHANGE_DEVICES && BH_MAX_FLOWS <= FLOW_EXCHANGE_PATHS,
               "one device for each domain");

struct flows flows;

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
    flow_exchange_open(&flows.exchange, number, &terms);
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

void flows_apply_effects(const struct flow_effects *effects)
{
    set_lines(effects->lines);
    for (uint32_t i = 0; i < domain_count(); i++) {
        if ((effects->attend >> i & 1) != 0) {
            cpu_send_request(domain_at(i)->vcpus[0].cpu, CPU_REQUEST_FLOWS);
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

void flows_handle_request(struct cpu *cpu)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (flows.exchange.devices[i] != NULL && domain_at(i)->vcpus[0].cpu == cpu) {
            process_tx(domain_at(i));
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

/* The driver has stopped its device. When it sees that in the status, it may use its buffers for other
 * things: not before the transfer is done that may be under way. */
static void stop(struct domain *domain)
{
    uint64_t until = clock_now() + clock_ticks(STOP_NS);

    lose(domain);
    while (flow_exchange_touches(&flows.exchange, domain->index)) {
        if (clock_now() > until) {
            return;
        }
    }
    flows_domain_reset(domain);
}

static void handle_event(struct domain *domain, enum virtio_mmio_event event, bool stopping)
{
    if (stopping) {
        stop(domain);
    } else if (event != VIRTIO_MMIO_NOTHING) {
        process_tx(domain);
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
    if (atomic_load(&domain->state) != BH_DOMAIN_STATE_RUNNING) {
        access->value = 0; /* it ends, and this VCPU has not yet heard of it */
        done = true;
    } else if (access->write) {
        done = virtio_mmio_write(&device->mmio, device->memory, (uint32_t)access->offset, access->bytes,
                                 access->value, &event, &queue);
    } else {
        done = virtio_mmio_read(&device->mmio, (uint32_t)access->offset, access->bytes, &access->value);
    }
    stopping = device->mmio.device.stopping;
    if (stopping && !access->write && !flow_exchange_touches(&flows.exchange, domain->index)) {
        vsock_device_reset(device); /* it asks whether the reset is done, which took long */
        access->value = 0;
    }
    vgic_set_spi_level(domain, domain->config->socket_irq, vsock_device_interrupts(device));
    vsock_device_unlock(device);
    if (event != VIRTIO_MMIO_NOTIFIED || queue != VSOCK_QUEUE_TX) {
        path_drop(BH_PATH_PART_TRANSPORT);
    }
    if (done && access->write) {
        handle_event(domain, event, stopping);
    }
    return done;
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
        lose(domain);
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
