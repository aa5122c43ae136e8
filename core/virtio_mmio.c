/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Registers of the MMIO transport, version 2 (virtio 1.2, 4.2.2).
 */
#include "core/virtio_mmio.h"

#include <string.h>

#define MAGIC   0x74726976u /* "virt" */
#define VERSION 2u
#define VENDOR  0x44484C42u /* "BLHD" */

void virtio_mmio_init(struct virtio_mmio *mmio, uint32_t device_id, uint64_t offered, uint32_t queue_count)
{
    memset(mmio, 0, sizeof(*mmio));
    virtio_device_init(&mmio->device, offered, queue_count);
    mmio->device_id = device_id;
}

void virtio_mmio_reset(struct virtio_mmio *mmio)
{
    virtio_device_reset(&mmio->device);
    mmio->device_features_select = 0;
    mmio->driver_features_select = 0;
    mmio->queue_select = 0;
}

static uint32_t half(uint64_t value, uint32_t select)
{
    return select > 1 ? 0 : (uint32_t)(value >> 32 * select);
}

static void set_half(uint64_t *word, uint32_t select, uint32_t value)
{
    if (select <= 1) {
        *word = (*word & ~(0xFFFFFFFFull << 32 * select)) | (uint64_t)value << 32 * select;
    }
}

static bool read_config(const struct virtio_mmio *mmio, uint32_t offset, uint32_t bytes, uint64_t *value)
{
    *value = 0;
    if (offset + bytes <= mmio->config_bytes) {
        memcpy(value, mmio->config + offset, bytes);
    }
    return true;
}

bool virtio_mmio_read(const struct virtio_mmio *mmio, uint32_t offset, uint32_t bytes, uint64_t *value)
{
    const struct virtio_device *device = &mmio->device;
    bool selected = mmio->queue_select < device->queue_count;

    if (offset >= VIRTIO_MMIO_CONFIG) {
        return read_config(mmio, offset - VIRTIO_MMIO_CONFIG, bytes, value);
    }
    if (bytes != 4) {
        return false;
    }
    switch (offset) {
    case VIRTIO_MMIO_MAGIC_VALUE:
        *value = MAGIC;
        break;
    case VIRTIO_MMIO_VERSION_NUMBER:
        *value = VERSION;
        break;
    case VIRTIO_MMIO_DEVICE_ID:
        *value = mmio->device_id;
        break;
    case VIRTIO_MMIO_VENDOR_ID:
        *value = VENDOR;
        break;
    case VIRTIO_MMIO_DEVICE_FEATURES:
        *value = half(device->offered, mmio->device_features_select);
        break;
    case VIRTIO_MMIO_QUEUE_ENTRIES_MOST:
        *value = selected ? VIRTQUEUE_MOST_ENTRIES : 0;
        break;
    case VIRTIO_MMIO_QUEUE_READY:
        *value = selected && device->queues[mmio->queue_select].ready;
        break;
    case VIRTIO_MMIO_INTERRUPT_STATUS:
        *value = device->interrupts;
        break;
    case VIRTIO_MMIO_STATUS:
        *value = device->status;
        break;
    default:
        *value =
            offset >= VIRTIO_MMIO_SHARED_MEMORY_LENGTH_LOW && offset <= VIRTIO_MMIO_SHARED_MEMORY_BASE_HIGH
                ? UINT32_MAX
                : 0;
        break;
    }
    return true;
}

/* A queue can be configured until it is ready; then its addresses are fixed. */
static void write_queue(struct virtqueue *queue, uint32_t offset, uint32_t value)
{
    if (queue->ready) {
        return;
    }
    switch (offset) {
    case VIRTIO_MMIO_QUEUE_ENTRIES:
        queue->entries = value <= VIRTQUEUE_MOST_ENTRIES ? (uint16_t)value : 0;
        break;
    case VIRTIO_MMIO_QUEUE_DESCRIPTORS_LOW:
    case VIRTIO_MMIO_QUEUE_DESCRIPTORS_HIGH:
        set_half(&queue->descriptors, offset == VIRTIO_MMIO_QUEUE_DESCRIPTORS_HIGH, value);
        break;
    case VIRTIO_MMIO_QUEUE_DRIVER_LOW:
    case VIRTIO_MMIO_QUEUE_DRIVER_HIGH:
        set_half(&queue->available, offset == VIRTIO_MMIO_QUEUE_DRIVER_HIGH, value);
        break;
    case VIRTIO_MMIO_QUEUE_DEVICE_LOW:
    case VIRTIO_MMIO_QUEUE_DEVICE_HIGH:
        set_half(&queue->used, offset == VIRTIO_MMIO_QUEUE_DEVICE_HIGH, value);
        break;
    default:
        break;
    }
}

static void write_features(struct virtio_mmio *mmio, uint32_t value)
{
    if ((mmio->device.status & VIRTIO_STATUS_FEATURES_OK) == 0) {
        set_half(&mmio->device.accepted, mmio->driver_features_select, value);
    }
}

bool virtio_mmio_write(struct virtio_mmio *mmio, struct guest_memory *memory, uint32_t offset, uint32_t bytes,
                       uint64_t wide, enum virtio_mmio_event *event, uint32_t *queue)
{
    struct virtio_device *device = &mmio->device;
    uint32_t value = (uint32_t)wide;
    uint32_t before = device->status;

    *event = VIRTIO_MMIO_NOTHING;
    if (offset >= VIRTIO_MMIO_CONFIG) {
        return true; /* no configuration field is writable */
    }
    if (bytes != 4) {
        return false;
    }
    switch (offset) {
    case VIRTIO_MMIO_DEVICE_FEATURES_SELECT:
        mmio->device_features_select = value;
        break;
    case VIRTIO_MMIO_DRIVER_FEATURES:
        write_features(mmio, value);
        break;
    case VIRTIO_MMIO_DRIVER_FEATURES_SELECT:
        mmio->driver_features_select = value;
        break;
    case VIRTIO_MMIO_QUEUE_SELECT:
        mmio->queue_select = value;
        break;
    case VIRTIO_MMIO_QUEUE_READY:
        virtio_device_set_ready(device, memory, mmio->queue_select, (value & 1) != 0);
        break;
    case VIRTIO_MMIO_QUEUE_NOTIFY:
        if (value < device->queue_count) {
            *queue = value;
            *event = VIRTIO_MMIO_NOTIFIED;
        }
        break;
    case VIRTIO_MMIO_INTERRUPT_ACKNOWLEDGE:
        device->interrupts &= ~value;
        break;
    case VIRTIO_MMIO_STATUS:
        virtio_device_set_status(device, value & 0xFF);
        break;
    default:
        if (mmio->queue_select < device->queue_count) {
            write_queue(&device->queues[mmio->queue_select], offset, value);
        }
        break;
    }
    if (device->status != before || device->stopping || device->retiring != 0 ||
        offset == VIRTIO_MMIO_QUEUE_READY) {
        *event = VIRTIO_MMIO_CHANGED;
    }
    return true;
}
