/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The registers of the MMIO transport of a virtio device (virtio 1.2, 4.2). Registers accept only aligned
 * accesses of 32 bits; the device's configuration accepts any size.
 */
#ifndef BULKHEAD_CORE_VIRTIO_MMIO_H
#define BULKHEAD_CORE_VIRTIO_MMIO_H

#include "core/virtio_device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VIRTIO_MMIO_BYTES  0x200u
#define VIRTIO_MMIO_CONFIG 0x100u

enum virtio_mmio_register {
    VIRTIO_MMIO_MAGIC_VALUE = 0x000,
    VIRTIO_MMIO_VERSION_NUMBER = 0x004,
    VIRTIO_MMIO_DEVICE_ID = 0x008,
    VIRTIO_MMIO_VENDOR_ID = 0x00C,
    VIRTIO_MMIO_DEVICE_FEATURES = 0x010,
    VIRTIO_MMIO_DEVICE_FEATURES_SELECT = 0x014,
    VIRTIO_MMIO_DRIVER_FEATURES = 0x020,
    VIRTIO_MMIO_DRIVER_FEATURES_SELECT = 0x024,
    VIRTIO_MMIO_QUEUE_SELECT = 0x030,
    VIRTIO_MMIO_QUEUE_ENTRIES_MOST = 0x034,
    VIRTIO_MMIO_QUEUE_ENTRIES = 0x038,
    VIRTIO_MMIO_QUEUE_READY = 0x044,
    VIRTIO_MMIO_QUEUE_NOTIFY = 0x050,
    VIRTIO_MMIO_INTERRUPT_STATUS = 0x060,
    VIRTIO_MMIO_INTERRUPT_ACKNOWLEDGE = 0x064,
    VIRTIO_MMIO_STATUS = 0x070,
    VIRTIO_MMIO_QUEUE_DESCRIPTORS_LOW = 0x080,
    VIRTIO_MMIO_QUEUE_DESCRIPTORS_HIGH = 0x084,
    VIRTIO_MMIO_QUEUE_DRIVER_LOW = 0x090,
    VIRTIO_MMIO_QUEUE_DRIVER_HIGH = 0x094,
    VIRTIO_MMIO_QUEUE_DEVICE_LOW = 0x0A0,
    VIRTIO_MMIO_QUEUE_DEVICE_HIGH = 0x0A4,
    VIRTIO_MMIO_SHARED_MEMORY_LENGTH_LOW = 0x0B0, /* up to the next: all ones, no shared memory */
    VIRTIO_MMIO_SHARED_MEMORY_BASE_HIGH = 0x0BC,
    VIRTIO_MMIO_CONFIG_GENERATION = 0x0FC,
};

struct virtio_mmio {
    struct virtio_device device;
    uint32_t device_id;
    uint32_t device_features_select;
    uint32_t driver_features_select;
    uint32_t queue_select;
    uint32_t config_bytes;
    uint8_t config[16]; /* configuration space, as the driver reads it */
};

/* What the owner of the device has to handle after a write. */
enum virtio_mmio_event {
    VIRTIO_MMIO_NOTHING,
    VIRTIO_MMIO_NOTIFIED, /* the driver notified `*queue`, an existing queue, which may have new chains */
    /* status or queues have changed: the device may have started or stopped running, or need a reset */
    VIRTIO_MMIO_CHANGED,
};

void virtio_mmio_init(struct virtio_mmio *mmio, uint32_t device_id, uint64_t offered, uint32_t queue_count);

/* Resets everything but the configuration to the state after power-on. */
void virtio_mmio_reset(struct virtio_mmio *mmio);

/* A guest's access of `bytes` bytes (1, 2, 4 or 8), aligned, at `offset` below VIRTIO_MMIO_BYTES. Returns
 * false and does nothing if the registers do not support the size. */
bool virtio_mmio_read(const struct virtio_mmio *mmio, uint32_t offset, uint32_t bytes, uint64_t *value);
bool virtio_mmio_write(struct virtio_mmio *mmio, struct guest_memory *memory, uint32_t offset, uint32_t bytes,
                       uint64_t value, enum virtio_mmio_event *event, uint32_t *queue);

#ifdef __cplusplus
}
#endif

#endif
