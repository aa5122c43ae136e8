/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Status, features and queues of a virtio device (virtio 1.2, 3.1).
 */
#include "core/virtio_device.h"

#include <string.h>

#define DRIVERS_BITS                                                                                         \
    (VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER | VIRTIO_STATUS_DRIVER_OK |                            \
     VIRTIO_STATUS_FEATURES_OK | VIRTIO_STATUS_FAILED)

void virtio_device_init(struct virtio_device *device, uint64_t offered, uint32_t queue_count)
{
    memset(device, 0, sizeof(*device));
    device->offered = offered;
    device->queue_count = queue_count;
}

void virtio_device_reset(struct virtio_device *device)
{
    virtio_device_init(device, device->offered, device->queue_count);
}

static bool features_are_sound(const struct virtio_device *device)
{
    uint64_t needed = VIRTIO_F_VERSION_1 | (device->offered & VIRTIO_F_ACCESS_PLATFORM);

    return (device->accepted & ~device->offered) == 0 && (device->accepted & needed) == needed;
}

void virtio_device_set_status(struct virtio_device *device, uint32_t status)
{
    uint32_t added = status & DRIVERS_BITS & ~device->status;

    if (status == 0) {
        device->stopping = true;
        return;
    }
    if ((added & VIRTIO_STATUS_FEATURES_OK) != 0 && !features_are_sound(device)) {
        added &= ~VIRTIO_STATUS_FEATURES_OK;
    }
    if (((device->status | added) & VIRTIO_STATUS_FEATURES_OK) == 0) {
        added &= ~VIRTIO_STATUS_DRIVER_OK; /* no operation before the features are agreed */
    }
    device->status |= added; /* the driver can clear bits only by a reset */
}

void virtio_device_set_ready(struct virtio_device *device, struct guest_memory *memory, uint32_t queue,
                             bool ready)
{
    struct virtqueue *one;

    if (queue >= device->queue_count) {
        return;
    }
    one = &device->queues[queue];
    if (ready == one->ready) {
        return;
    }
    if (!ready) {
        device->retiring |= 1u << queue;
        return;
    }
    if (!virtqueue_is_sound(one, memory)) {
        virtio_device_fail(device);
        return;
    }
    one->ready = true;
}

void virtio_device_retire(struct virtio_device *device)
{
    for (uint32_t i = 0; i < device->queue_count; i++) {
        if ((device->retiring >> i & 1) != 0) {
            memset(&device->queues[i], 0, sizeof device->queues[i]);
        }
    }
    device->retiring = 0;
}

void virtio_device_fail(struct virtio_device *device)
{
    if ((device->status & VIRTIO_STATUS_NEEDS_RESET) == 0) {
        device->status |= VIRTIO_STATUS_NEEDS_RESET;
        if ((device->status & VIRTIO_STATUS_DRIVER_OK) != 0) {
            device->interrupts |= VIRTIO_INTERRUPT_CONFIG;
        }
    }
}
