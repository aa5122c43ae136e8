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

#define VIRTIO_MMIO_BYTES            0x200u
#define VIRTIO_MMIO_CONFIG           0x100u
#define VIRTIO_MMIO_INTERRUPT_STATUS 0x060u

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
