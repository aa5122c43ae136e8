/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One virtio socket device (virtio 1.2, 5.10).
 */
#include "core/vsock_device.h"

#include "core/atomic.h"
#include "core/path_costs.h"
#include <stddef.h>
#include <string.h>

void vsock_device_init(struct vsock_device *device, struct guest_memory *memory, uint32_t index, uint64_t cid)
{
    memset(device, 0, sizeof(*device));
    device->memory = memory;
    device->cid = cid;
    device->index = index;
    virtio_mmio_init(&device->mmio, VSOCK_DEVICE_ID, VIRTIO_F_VERSION_1, VSOCK_QUEUES);
    device->mmio.config_bytes = sizeof(cid);
    memcpy(device->mmio.config, &cid, sizeof(cid));
    packet_queue_init(&device->queue);
}

void vsock_device_lose(struct vsock_device *device)
{
    atomic_word_store(&device->up, 0);
    device->joined = false;
    packet_queue_init(&device->queue);
    device->answer_count = 0;
    atomic_word_store(&device->life, device->life + 1);
}

void vsock_device_reset(struct vsock_device *device)
{
    virtio_mmio_reset(&device->mmio);
}

static struct virtqueue *queue_of(struct vsock_device *device, uint32_t queue)
{
    return virtio_device_queue(&device->mmio.device, queue);
}

void vsock_device_fail(struct vsock_device *device)
{
    device->malformed++;
    atomic_word_store(&device->failed, 1);
    virtio_device_fail(&device->mmio.device);
}

static void give(struct vsock_device *device, uint32_t number, uint16_t head, uint32_t written)
{
    struct virtqueue *queue = queue_of(device, number);

    if (queue == NULL) {
        return;
    }
    if (!virtqueue_give(queue, device->memory, head, written)) {
        vsock_device_fail(device);
    } else if (virtqueue_wants_interrupt(queue, device->memory)) {
        device->mmio.device.interrupts |= VIRTIO_INTERRUPT_QUEUE;
    }
}

enum vsock_sent vsock_device_peek(struct vsock_device *device, struct vsock_packet *packet)
{
    struct virtqueue *queue = queue_of(device, VSOCK_QUEUE_TX);

    if (queue == NULL || packet_queue_is_full(&device->queue) || device->answer_count == VSOCK_ANSWERS) {
        return VSOCK_SENT_NOTHING;
    }
    switch (virtqueue_peek(queue, device->memory, &packet->chain)) {
    case VIRTQUEUE_EMPTY:
        return VSOCK_SENT_NOTHING;
    case VIRTQUEUE_BROKEN:
        return VSOCK_SENT_BROKEN;
    default:
        break;
    }
    if (packet->chain.readable != packet->chain.count ||
        !virtqueue_chain_read(&packet->chain, device->memory, 0, &packet->header, sizeof(packet->header))) {
        return VSOCK_SENT_BROKEN;
    }
    switch (vsock_check(&packet->header, device->cid, packet->chain.readable_bytes - VSOCK_HEADER_BYTES)) {
    case VSOCK_SOUND:
        return VSOCK_SENT_PACKET;
    case VSOCK_UNKNOWN:
        return VSOCK_SENT_UNKNOWN;
    case VSOCK_FOREIGN:
        device->foreign++;
        return VSOCK_SENT_FOREIGN;
    default:
        return VSOCK_SENT_BROKEN;
    }
}

void vsock_device_queue(struct vsock_device *device, const struct vsock_packet *packet,
                        const struct packet_key *key)
{
    uint32_t slot = packet_queue_insert(&device->queue, key);

    device->packets[slot] = *packet;
    device->packets[slot].serial = device->next_serial++;
    device->packets[slot].done_bytes = 0;
    device->packets[slot].begun = false;
    virtqueue_advance(&device->mmio.device.queues[VSOCK_QUEUE_TX]);
}

static bool is_credit(const struct vsock_header *header)
{
    return header->operation == VSOCK_CREDIT_UPDATE || header->operation == VSOCK_CREDIT_REQUEST;
}

static bool is_of_same_connection(const struct vsock_packet *a, const struct vsock_packet *b)
{
    return a->path == b->path && a->reverse == b->reverse && a->header.source_port == b->header.source_port &&
           a->header.destination_port == b->header.destination_port;
}

/* The packet of the same connection that was queued last, or NULL. */
static struct vsock_packet *latest_of_connection(struct vsock_device *device,
                                                 const struct vsock_packet *packet)
{
    struct vsock_packet *latest = NULL;

    for (uint32_t place = 0; place < device->queue.count; place++) {
        struct vsock_packet *one = &device->packets[device->queue.order[place]];

        if (is_of_same_connection(one, packet) && (latest == NULL || one->serial > latest->serial)) {
            latest = one;
        }
    }
    return latest;
}

bool vsock_device_merge(struct vsock_device *device, const struct vsock_packet *packet)
{
    struct vsock_packet *latest;

    if (!is_credit(&packet->header)) {
        return false;
    }
    latest = latest_of_connection(device, packet);
    if (latest == NULL || latest->begun || latest->header.operation != packet->header.operation) {
        return false;
    }
    latest->header = packet->header;
    return true;
}

void vsock_device_return(struct vsock_device *device, const struct vsock_packet *packet)
{
    virtqueue_advance(&device->mmio.device.queues[VSOCK_QUEUE_TX]);
    give(device, VSOCK_QUEUE_TX, packet->chain.head, 0);
}

void vsock_device_answer(struct vsock_device *device, const struct vsock_header *reset)
{
    if (device->answer_count == 0 && vsock_device_deliver_header(device, reset)) {
        return;
    }
    device->answers[device->answer_count++] = *reset;
}

void vsock_device_finish(struct vsock_device *device, uint32_t slot)
{
    struct path_mark mark = path_begin();

    packet_queue_remove(&device->queue, slot);
    path_end(&mark, BH_PATH_PART_QUEUE_REMOVE);
    device->packets[slot].serial = VSOCK_NO_SERIAL;
    give(device, VSOCK_QUEUE_TX, device->packets[slot].chain.head, 0);
}

bool vsock_device_take_buffer(struct vsock_device *device, struct virtqueue_chain *buffer)
{
    struct virtqueue *queue = queue_of(device, VSOCK_QUEUE_RX);
    enum virtqueue_answer answer;

    if (queue == NULL) {
        return false;
    }
    answer = virtqueue_peek(queue, device->memory, buffer);
    if (answer == VIRTQUEUE_EMPTY) {
        return false;
    }
    if (answer == VIRTQUEUE_BROKEN || buffer->readable != 0 || buffer->writable_bytes <= VSOCK_HEADER_BYTES) {
        vsock_device_fail(device);
        return false;
    }
    virtqueue_advance(queue);
    return true;
}

void vsock_device_deliver(struct vsock_device *device, const struct virtqueue_chain *buffer,
                          const struct vsock_header *header)
{
    if (queue_of(device, VSOCK_QUEUE_RX) == NULL) {
        return;
    }
    if (!virtqueue_chain_write(buffer, device->memory, 0, header, sizeof(*header))) {
        vsock_device_fail(device);
        return;
    }
    give(device, VSOCK_QUEUE_RX, buffer->head, VSOCK_HEADER_BYTES + header->bytes);
}

void vsock_device_return_buffer(struct vsock_device *device, const struct virtqueue_chain *buffer)
{
    give(device, VSOCK_QUEUE_RX, buffer->head, 0);
}

bool vsock_device_deliver_header(struct vsock_device *device, const struct vsock_header *header)
{
    struct virtqueue_chain buffer;

    if (!vsock_device_take_buffer(device, &buffer)) {
        return false;
    }
    vsock_device_deliver(device, &buffer, header);
    return true;
}
