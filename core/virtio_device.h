/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What every virtio device has, whatever its transport (virtio 1.2, 2.1 to 2.4, 3.1): status, features and
 * queues, as the driver sets them up. What cannot be is refused or makes the device ask for a reset; the
 * caller serializes.
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

#define VIRTIO_F_VERSION_1 (1ull << 32)

#define VIRTIO_INTERRUPT_QUEUE  1u
#define VIRTIO_INTERRUPT_CONFIG 2u

struct virtio_device {
    uint64_t offered;  /* features */
    uint64_t accepted; /* of them */
    uint32_t queue_count;
    uint32_t status;
    uint32_t interrupts; /* VIRTIO_INTERRUPT_…: raised and not yet acknowledged */
    uint32_t retiring;   /* queues, 1 << number, that the driver gives up: until virtio_device_retire() */
    bool stopping; /* a reset was asked for; the status reads as 0 when virtio_device_reset() was called */
    struct virtqueue queues[VIRTIO_MOST_QUEUES];
};

void virtio_device_init(struct virtio_device *device, uint64_t offered, uint32_t queue_count);

/* All as after power-on. */
void virtio_device_reset(struct virtio_device *device);

/* The driver writes the status. 0 asks for a reset: the caller does it when nothing touches the guest's
 * buffers any more. FEATURES_OK stays off if the features are not those that were offered, or are not of
 * version 1. */
void virtio_device_set_status(struct virtio_device *device, uint32_t status);

/* The driver says that a queue is set up, or is no more (virtio 1.2, 4.2.2.2). One that cannot be stays as it
 * is, and the device asks for a reset. One that is no more is ready until nothing touches its buffers: then
 * the caller retires it. Until then the device does not run. */
void virtio_device_set_ready(struct virtio_device *device, struct guest_memory *memory, uint32_t queue,
                             bool ready);

/* Queues that the driver gives up are as after a reset. */
void virtio_device_retire(struct virtio_device *device);

/* After invalid input from the guest: its queues are not read until the guest has reset the device. */
void virtio_device_fail(struct virtio_device *device);

/* Whether the device works: the driver is ready, and nothing has failed. */
static inline bool virtio_device_runs(const struct virtio_device *device)
{
    return (device->status & (VIRTIO_STATUS_DRIVER_OK | VIRTIO_STATUS_NEEDS_RESET)) ==
               VIRTIO_STATUS_DRIVER_OK &&
           !device->stopping && device->retiring == 0;
}

/* The queue, if the device runs and the driver has made it ready; else NULL. */
static inline struct virtqueue *virtio_device_queue(struct virtio_device *device, uint32_t queue)
{
    return virtio_device_runs(device) && device->queues[queue].ready ? &device->queues[queue] : 0;
}

#ifdef __cplusplus
}
#endif

#endif
