/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The MMIO transport of a virtio device (virtio 1.2, 4.2): its registers. Only aligned accesses of 32 bits,
 * and of any size to the device's own configuration.
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
    uint8_t config[16]; /* as the driver reads it */
};

/* What the device's owner has to do after a write. */
enum virtio_mmio_event {
    VIRTIO_MMIO_NOTHING,
    VIRTIO_MMIO_NOTIFIED, /* `*queue`, one that there is: chains were made available, perhaps */
    VIRTIO_MMIO_CHANGED,  /* status or queues: the device may run now, or not any more, or asks for a reset */
};

void virtio_mmio_init(struct virtio_mmio *mmio, uint32_t device_id, uint64_t offered, uint32_t queue_count);

/* Everything but the configuration as after power-on. */
void virtio_mmio_reset(struct virtio_mmio *mmio);

/* An access of `bytes` (1, 2, 4, 8), aligned, at `offset` below VIRTIO_MMIO_BYTES. False: of a size that the
 * registers do not have; nothing was done. */
bool virtio_mmio_read(const struct virtio_mmio *mmio, uint32_t offset, uint32_t bytes, uint64_t *value);
bool virtio_mmio_write(struct virtio_mmio *mmio, struct guest_memory *memory, uint32_t offset, uint32_t bytes,
                       uint64_t value, enum virtio_mmio_event *event, uint32_t *queue);

#ifdef __cplusplus
}
#endif

#endif
