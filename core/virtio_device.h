/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The part that all virtio devices have in common, with any transport (virtio 1.2, 2.1 to 2.4, 3.1): status,
 * features and queues, as the driver sets them up. Invalid settings are refused or make the device need a
 * reset. The caller serializes.
 */
#ifndef BULKHEAD_CORE_VIRTIO_DEVICE_H
#define BULKHEAD_CORE_VIRTIO_DEVICE_H

#include "core/virtqueue.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIRTIO_MOST_QUEUES 3u

#define VIRTIO_STATUS_ACKNOWLEDGE 1u
#define VIRTIO_STATUS_DRIVER      2u
#define VIRTIO_STATUS_DRIVER_OK   4u
#define VIRTIO_STATUS_FEATURES_OK 8u
#define VIRTIO_STATUS_NEEDS_RESET 64u
#define VIRTIO_STATUS_FAILED      128u

#define VIRTIO_F_VERSION_1       (1ull << 32)
#define VIRTIO_F_ACCESS_PLATFORM (1ull << 33) /* the device reaches only a part of the guest's memory */

#define VIRTIO_INTERRUPT_QUEUE  1u
#define VIRTIO_INTERRUPT_CONFIG 2u

struct virtio_device {
    uint64_t offered;  /* features offered to the driver */
    uint64_t accepted; /* features that the driver accepted */
    uint32_t queue_count;
    uint32_t status;
    uint32_t interrupts; /* VIRTIO_INTERRUPT_…: raised and not yet acknowledged */
    uint32_t retiring;   /* queues, 1 << number, that the driver is disabling, until virtio_device_retire() */
    bool stopping; /* the driver has requested a reset; the status reads as 0 after virtio_device_reset() */
    struct virtqueue queues[VIRTIO_MOST_QUEUES];
};

void virtio_device_init(struct virtio_device *device, uint64_t offered, uint32_t queue_count);

/* Resets the device to its state after power-on. */
void virtio_device_reset(struct virtio_device *device);

/* The driver writes the status. 0 requests a reset: the caller calls virtio_device_reset() when nothing
 * accesses the guest's buffers any more. FEATURES_OK stays clear if the driver accepted features that were
 * not offered, or not VIRTIO_F_VERSION_1, or not VIRTIO_F_ACCESS_PLATFORM although it was offered. */
void virtio_device_set_status(struct virtio_device *device, uint32_t status);

/* The driver enables or disables a queue (virtio 1.2, 4.2.2.2). An invalid queue is not enabled, and the
 * device then needs a reset. A disabled queue still reads as ready until nothing accesses its buffers; then
 * the caller calls virtio_device_retire(). Until then the device does not run. */
void virtio_device_set_ready(struct virtio_device *device, struct guest_memory *memory, uint32_t queue,
                             bool ready);

/* Resets the queues that the driver is disabling. */
void virtio_device_retire(struct virtio_device *device);

/* After invalid input from the guest: the device needs a reset, and its queues are not read until the guest
 * has reset it. */
void virtio_device_fail(struct virtio_device *device);

/* Whether the device is running: the driver is ready, and nothing has failed. */
static inline bool virtio_device_runs(const struct virtio_device *device)
{
    return (device->status & (VIRTIO_STATUS_DRIVER_OK | VIRTIO_STATUS_NEEDS_RESET)) ==
               VIRTIO_STATUS_DRIVER_OK &&
           !device->stopping && device->retiring == 0;
}

/* The queue, if the device is running and the driver has enabled the queue; otherwise NULL. */
static inline struct virtqueue *virtio_device_queue(struct virtio_device *device, uint32_t queue)
{
    return virtio_device_runs(device) && device->queues[queue].ready ? &device->queues[queue] : 0;
}

#ifdef __cplusplus
}
#endif

#endif
