/* SPDX-License-Identifier: Apache-2.0
 *
 * Socket devices: accesses of guests to their registers, behind an MMIO transport or on a virtual PCI root of
 * the domain, and the end and reset of devices. All functions are called with interrupts masked and do
 * bounded work: a notification is a word in the broker's memory and an event or interrupt.
 */
#include "flow/flows.h"
#include "core/path_costs.h"
#include "core/socket_reach.h"
#include "flow/door.h"
#include "flow/flow_broker.h"
#include "flow/hypercall_flows.h"
#include "flow/path_stamps.h"
#include "flow/sockets.h"
#include "memory/placement.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <stdatomic.h>
#include <string.h>

#define ROOT_OFFSET BH_PAGE_BYTES /* of configuration space, behind the page with the registers */

static struct {
    struct socket_device *devices[BH_MAX_DOMAINS]; /* by domain; NULL: it has none */
} sockets;

static bool there_are_flows(void)
{
    return system_manifest()->flows.count != 0;
}

struct socket_device *socket_of(const struct domain *domain)
{
    return sockets.devices[domain->index];
}

/* The segments that the device reaches. */
static struct segment_map map_of(const struct domain *domain, const struct socket_reach *reach)
{
    struct segment_map map = placement_map(system_manifest(), domain->config);

    map.segments = manifest_segments(system_manifest()) + reach->first_segment;
    map.count = reach->segment_count;
    return map;
}

static bool init_device(struct domain *domain)
{
    struct socket_reach reach = socket_reach_of(system_manifest(), domain->config);
    uint64_t features = VSOCK_DEVICE_FEATURES | (reach.is_pool ? VIRTIO_F_ACCESS_PLATFORM : 0);
    struct socket_device *device = pool_allocate_bytes(system_pool(), sizeof(struct socket_device));
    uint64_t cid = domain->config->socket_cid;

    if (device == NULL) {
        return false;
    }
    memset(device, 0, sizeof(*device));
    device->memory.domain = domain;
    device->memory.map = map_of(domain, &reach);
    device->broker = domain->config->socket_broker;
    device->on_root = domain->config->socket_root_ipa != 0;
    device->life = 1;
    virtio_mmio_init(&device->mmio, VSOCK_DEVICE_ID, features, VSOCK_QUEUES);
    device->mmio.config_bytes = sizeof(cid);
    memcpy(device->mmio.config, &cid, sizeof(cid));
    virtio_pci_init(&device->pci, VSOCK_DEVICE_ID, domain->config->socket_ipa);
    sockets.devices[domain->index] = device;
    return true;
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
    memset(&sockets, 0, sizeof(sockets));
    door_init();
    if (there_are_flows() && (!init_devices() || !flow_broker_init() || !path_stamps_init())) {
        return false;
    }
    return hypercall_flows_init();
}

/* Writes the current state of the device's registers to the door. Called under the device's lock. */
static void write_device(struct socket_device *device, struct broker_door *door)
{
    const struct virtio_device *virtio = &device->mmio.device;
    struct door_device *to = &door->devices[device->memory.domain->index];
    bool runs = virtio_device_runs(virtio) && !device->leaving;

    __atomic_store_n(&to->version, to->version + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    to->life = device->life;
    to->status = runs ? virtio->status : 0;
    to->accepted = virtio->accepted;
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        const struct virtqueue *queue = &virtio->queues[i];

        to->queues[i] = (struct door_queue){
            .descriptors = queue->descriptors,
            .available = queue->available,
            .used = queue->used,
            .entries = queue->ready ? queue->entries : 0,
            .begun = device->begun[i],
        };
    }
    __atomic_store_n(&to->version, to->version + 1, __ATOMIC_RELEASE);
    door_ring(device->broker, door, device->memory.domain->index, DOOR_BELL_CHANGED);
}

static void write_device_if_open(struct socket_device *device)
{
    struct broker_door *door = door_here(device->broker);

    if (door != NULL) {
        write_device(device, door);
    }
}

void sockets_tell_all(uint32_t broker)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct socket_device *device = sockets.devices[i];

        if (device != NULL && device->broker == broker) {
            spin_lock(&device->lock);
            write_device_if_open(device);
            spin_unlock(&device->lock);
        }
    }
}

/* Sets the device's interrupt line. Called under the device's lock. */
static void set_line(const struct socket_device *device)
{
    const struct domain *domain = device->memory.domain;
    bool level =
        device->on_root ? virtio_pci_line(&device->pci, &device->mmio) : device->mmio.device.interrupts != 0;

    vgic_set_spi_level(domain_at(domain->index), domain->config->socket_irq, level);
}

void socket_interrupt(const struct domain *domain)
{
    struct socket_device *device = socket_of(domain);

    spin_lock(&device->lock);
    if (virtio_device_runs(&device->mmio.device)) {
        device->mmio.device.interrupts |= VIRTIO_INTERRUPT_QUEUE;
        path_stamps_raise(domain->index);
        set_line(device);
    }
    spin_unlock(&device->lock);
}

/* Counts a request of the device for a reset, for the report of the run. Called under the device's lock. */
static void count_failure(const struct socket_device *device, enum bh_socket_failure failure)
{
    struct status_domain *status = &system_status()->domains[device->memory.domain->index];

    if (status->socket_failures < UINT16_MAX) {
        status->socket_failures++;
    }
    status->socket_failure = (uint8_t)failure;
}

void socket_fail(const struct domain *domain)
{
    struct socket_device *device = socket_of(domain);

    spin_lock(&device->lock);
    if (virtio_device_runs(&device->mmio.device)) {
        virtio_device_fail(&device->mmio.device);
        count_failure(device, BH_SOCKET_FAILURE_BROKER);
        set_line(device);
    }
    spin_unlock(&device->lock);
}

/* True if the broker or its engine may still access the domain's memory for an earlier life of the device.
 * Called under the device's lock. */
static bool is_in_use(const struct socket_device *device)
{
    const struct broker_reply *reply = door_reply_here(device->broker);
    const struct domain *domain = device->memory.domain;

    return flow_broker_touches(domain) ||
           (reply != NULL && __atomic_load_n(&reply->lives[domain->index], __ATOMIC_ACQUIRE) != device->life);
}

/* Begins to stop the device: from now on, operations in flight belong to an earlier life. Called under the
 * device's lock. */
static void begin_stop(struct socket_device *device)
{
    if (!device->leaving) {
        device->leaving = true;
        device->life++;
        write_device_if_open(device);
    }
}

/* The driver resets its device or stops one of its queues. When its write completes, it may reuse its
 * buffers, so the write must not complete before the broker has left them. Returns false if the driver must
 * repeat the write. Called under the device's lock. */
static bool stop(struct socket_device *device)
{
    struct virtio_device *virtio = &device->mmio.device;

    begin_stop(device);
    if (is_in_use(device)) {
        device->awaited = true;
        return false;
    }
    device->leaving = false;
    if (virtio->stopping) {
        virtio_mmio_reset(&device->mmio);
    } else {
        virtio_device_retire(virtio);
    }
    write_device_if_open(device);
    return true;
}

void socket_left(struct domain *domain)
{
    struct socket_device *device = socket_of(domain);
    bool awaited;

    spin_lock(&device->lock);
    awaited = device->awaited && !is_in_use(device);
    device->awaited = device->awaited && !awaited;
    spin_unlock(&device->lock);
    if (awaited || atomic_load(&domain->state) == BH_DOMAIN_STATE_RESTARTING) {
        domain_tell_cores(domain);
    }
}

void sockets_forget_broker(uint32_t broker)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct socket_device *device = sockets.devices[i];

        if (device != NULL && device->broker == broker) {
            spin_lock(&device->lock); /* who held it has seen the door open */
            spin_unlock(&device->lock);
        }
    }
}

bool flows_is_broker(const struct domain *domain)
{
    return manifest_is_broker(system_manifest(), domain->index);
}

bool flows_device_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    const struct manifest_domain *config = domain->config;

    *offset = page - config->socket_ipa;
    if (*offset < BH_PAGE_BYTES) {
        return config->socket_cid != 0;
    }
    *offset = page - config->socket_root_ipa;
    if (*offset >= BH_PCI_BUS_BYTES || config->socket_root_ipa == 0) {
        return false;
    }
    *offset += ROOT_OFFSET;
    return true;
}

/* Counts queues that the driver has made ready with this write: they start anew. */
static void count_begun(struct socket_device *device, const bool before[VSOCK_QUEUES])
{
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        device->begun[i] += device->mmio.device.queues[i].ready && !before[i];
    }
}

/* Handles a write to a device whose domain runs. Returns false if the register does not support the access
 * size. Called under the device's lock. */
static bool write_register(struct socket_device *device, struct mmio_access *access)
{
    struct broker_door *door = door_here(device->broker);
    enum virtio_mmio_event event = VIRTIO_MMIO_NOTHING;
    uint32_t status = device->mmio.device.status;
    bool before[VSOCK_QUEUES];
    uint32_t offset = (uint32_t)access->offset;
    uint32_t queue = 0;
    bool done;

    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        before[i] = device->mmio.device.queues[i].ready;
    }
    done = device->on_root ? virtio_pci_write(&device->mmio, &device->memory, offset, access->bytes,
                                              access->value, &event, &queue)
                           : virtio_mmio_write(&device->mmio, &device->memory, offset, access->bytes,
                                               access->value, &event, &queue);
    if (!done) {
        return false;
    }
    count_begun(device, before);
    if ((device->mmio.device.status & ~status & VIRTIO_STATUS_NEEDS_RESET) != 0) {
        count_failure(device, BH_SOCKET_FAILURE_QUEUE);
    }
    if (event == VIRTIO_MMIO_CHANGED) {
        write_device_if_open(device);
    } else if (event == VIRTIO_MMIO_NOTIFIED && door != NULL) {
        door_ring(device->broker, door, device->memory.domain->index, 1u << queue);
        if (queue == VSOCK_QUEUE_TX) {
            path_close(BH_PATH_PART_TRANSPORT, 0);
        }
    }
    return true;
}

static bool read_register(struct socket_device *device, struct mmio_access *access)
{
    uint32_t offset = (uint32_t)access->offset;

    return device->on_root ? virtio_pci_read(&device->mmio, offset, access->bytes, &access->value)
                           : virtio_mmio_read(&device->mmio, offset, access->bytes, &access->value);
}

/* The page's registers. What is behind those of the MMIO transport reads as zero. */
static bool register_access(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;
    struct socket_device *device = socket_of(domain);
    bool done = true;

    if (access->offset >= VIRTIO_MMIO_BYTES) {
        access->value = 0;
        return true;
    }
    if (!access->write &&
        access->offset == (device->on_root ? VIRTIO_PCI_ISR : VIRTIO_MMIO_INTERRUPT_STATUS)) {
        path_stamps_heard(domain->index);
    }
    path_open(BH_PATH_PART_TRANSPORT);
    spin_lock(&device->lock);
    if (atomic_load(&domain->state) != BH_DOMAIN_STATE_RUNNING) {
        access->value = 0; /* the domain ends, and this VCPU has not yet been notified */
    } else {
        done = access->write ? write_register(device, access) : read_register(device, access);
        if (device->mmio.device.stopping || device->mmio.device.retiring != 0) {
            /* Other VCPUs that read meanwhile see the device after its reset. */
            access->again = !stop(device) || !access->write;
        }
        if (access->write || (device->on_root && access->offset == VIRTIO_PCI_ISR)) {
            set_line(device);
        }
    }
    spin_unlock(&device->lock);
    path_drop(BH_PATH_PART_TRANSPORT);
    return done;
}

/* The words of the function's configuration space. Called under the device's lock. */
static void config_word_access(struct socket_device *device, struct mmio_access *access, uint32_t at)
{
    uint32_t shift = 8 * (at & 3);
    uint32_t mask = UINT32_MAX >> (32 - 8 * access->bytes) << shift;

    at &= ~3u;
    if (access->write) {
        virtio_pci_config_write(&device->pci, at, mask, (uint32_t)access->value << shift);
        set_line(device);
    } else {
        access->value = (virtio_pci_config_read(&device->pci, &device->mmio, at) & mask) >> shift;
    }
}

/* An access to a register through the window in configuration space. If the register does not support the
 * size, it reads as zero, and a write has no effect. */
static void window_access(struct vcpu *vcpu, struct mmio_access *access, uint32_t at, uint32_t bytes)
{
    struct mmio_access inner = {.offset = at, .bytes = bytes, .write = access->write};

    inner.value = access->value & UINT32_MAX >> (32 - 8 * bytes);
    if (!register_access(vcpu, &inner)) {
        inner.value = 0;
    }
    access->value = inner.value & UINT32_MAX >> (32 - 8 * access->bytes);
    access->again = inner.again;
}

/* Configuration space of the virtual root: the device is its only function. */
static bool config_access(struct vcpu *vcpu, struct mmio_access *access, uint32_t offset)
{
    struct socket_device *device = socket_of(vcpu->domain);
    uint32_t bytes;
    uint32_t at;

    if (access->bytes > 4) {
        return false;
    }
    if (offset >= PCI_CONFIG_BYTES) {
        access->value = PCI_NO_FUNCTION >> (32 - 8 * access->bytes);
        return true;
    }
    spin_lock(&device->lock);
    bytes = virtio_pci_window(&device->pci, offset, &at);
    if (atomic_load(&vcpu->domain->state) != BH_DOMAIN_STATE_RUNNING) {
        access->value = 0; /* as in register_access() */
        bytes = 0;
    } else if (bytes == 0) {
        config_word_access(device, access, offset);
    }
    spin_unlock(&device->lock);
    if (bytes != 0) {
        window_access(vcpu, access, at, bytes);
    }
    return true;
}

bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access)
{
    return access->offset < ROOT_OFFSET ? register_access(vcpu, access)
                                        : config_access(vcpu, access, (uint32_t)access->offset - ROOT_OFFSET);
}

void flows_domain_stops(const struct domain *domain)
{
    if (flows_is_broker(domain)) {
        flow_broker_stops(domain);
    }
}

void flows_domain_stopped(struct domain *domain)
{
    struct socket_device *device;

    if (!there_are_flows()) {
        return;
    }
    hypercall_flows_domain_stopped(domain);
    if (flows_is_broker(domain)) {
        flow_broker_stop(domain);
        return;
    }
    device = socket_of(domain);
    if (device != NULL) {
        spin_lock(&device->lock);
        virtio_device_set_status(&device->mmio.device, 0);
        device->awaited = false;
        begin_stop(device);
        spin_unlock(&device->lock);
    }
}

void flows_vcpu_off(const struct vcpu *vcpu)
{
    if (flows_is_broker(vcpu->domain)) {
        flow_broker_vcpu_off(vcpu->domain);
    }
}

const struct domain *flows_leaving(void)
{
    return there_are_flows() ? flow_broker_leaving() : NULL;
}

void flows_left(const struct domain *broker)
{
    flow_broker_left(broker);
}

bool flows_touch(const struct domain *domain)
{
    struct socket_device *device = there_are_flows() ? socket_of(domain) : NULL;
    bool touched;

    if (device == NULL) {
        return false;
    }
    spin_lock(&device->lock);
    touched = is_in_use(device);
    spin_unlock(&device->lock);
    return touched;
}

void flows_domain_reset(struct domain *domain)
{
    struct socket_device *device = socket_of(domain);

    if (flows_is_broker(domain)) {
        flow_broker_reset(domain);
    }
    if (device == NULL) {
        return;
    }
    spin_lock(&device->lock);
    virtio_mmio_reset(&device->mmio);
    virtio_pci_reset(&device->pci);
    device->leaving = false;
    set_line(device);
    write_device_if_open(device);
    spin_unlock(&device->lock);
}
