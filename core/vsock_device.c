/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One virtio socket device (virtio 1.2, 5.10).
 */
#include "core/vsock_device.h"

#include <stddef.h>
#include <string.h>

static void free_places(struct vsock_device *device)
{
    device->held_descriptors = 0;
    device->needs = 1;
    memset(device->copies, 0, sizeof(device->copies));
    device->free_count = VSOCK_PLACES;
    for (uint32_t i = 0; i < VSOCK_PLACES; i++) {
        device->free[i] = (uint16_t)(VSOCK_PLACES - 1 - i);
    }
}

void vsock_device_init(struct vsock_device *device, struct guest_memory *memory, uint32_t index, uint64_t cid,
                       struct virtqueue_progress progress[])
{
    memset(device, 0, sizeof(*device));
    device->memory = memory;
    device->cid = cid;
    device->index = index;
    device->progress = progress;
    virtio_device_init(&device->virtio, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
    free_places(device);
}

void vsock_device_set(struct vsock_device *device, const struct virtio_device *registers, uint32_t anew)
{
    device->virtio = *registers;
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        device->virtio.queues[i].progress = &device->progress[i];
        if ((anew >> i & 1) != 0) {
            device->progress[i] = (struct virtqueue_progress){0};
        }
    }
    device->awaits_buffer = false;
}

void vsock_device_lose(struct vsock_device *device)
{
    device->joined = false;
    device->owes_event = false;
    device->sends = false;
    device->owed = 0;
    device->interrupts = false;
    device->answer_count = 0;
    free_places(device);
}

static struct virtqueue *queue_of(struct vsock_device *device, uint32_t queue)
{
    return virtio_device_queue(&device->virtio, queue);
}

void vsock_device_fail(struct vsock_device *device)
{
    device->malformed++;
    device->failed = true;
    virtio_device_fail(&device->virtio);
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
        device->interrupts = true;
    }
}

void vsock_device_resume(struct vsock_device *device, uint32_t resumed)
{
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        struct virtqueue *queue = queue_of(device, i);

        if ((resumed >> i & 1) != 0 && queue != NULL && !virtqueue_resume(queue, device->memory)) {
            vsock_device_fail(device);
            return;
        }
    }
    device->owes_event = true;
    device->interrupts = true; /* the previous instance may have returned a buffer without an interrupt */
    vsock_device_deliver_event(device);
}

void vsock_device_deliver_event(struct vsock_device *device)
{
    const uint32_t event = VSOCK_EVENT_TRANSPORT_RESET;
    struct virtqueue *queue = queue_of(device, VSOCK_QUEUE_EVENT);
    struct virtqueue_chain chain;
    enum virtqueue_answer answer;

    if (!device->owes_event || queue == NULL) {
        return;
    }
    answer = virtqueue_peek(queue, device->memory, &chain);
    if (answer == VIRTQUEUE_EMPTY) {
        return;
    }
    if (answer == VIRTQUEUE_BROKEN || chain.readable != 0 ||
        !virtqueue_chain_write(&chain, device->memory, 0, &event, sizeof(event))) {
        vsock_device_fail(device);
        return;
    }
    virtqueue_take(queue, chain.head);
    device->owes_event = false;
    give(device, VSOCK_QUEUE_EVENT, chain.head, sizeof(event));
}

enum vsock_sent vsock_device_peek(struct vsock_device *device, struct vsock_packet *packet)
{
    struct virtqueue *queue = queue_of(device, VSOCK_QUEUE_TX);
    struct virtqueue_chain chain;

    if (queue == NULL || device->free_count == 0 || device->answer_count >= VSOCK_ANSWERS) {
        return VSOCK_SENT_NOTHING;
    }
    switch (virtqueue_peek(queue, device->memory, &chain)) {
    case VIRTQUEUE_EMPTY:
        return VSOCK_SENT_NOTHING;
    case VIRTQUEUE_BROKEN:
        return VSOCK_SENT_BROKEN;
    default:
        break;
    }
    packet->head = chain.head;
    packet->descriptors = chain.count;
    if (chain.readable != chain.count ||
        !virtqueue_chain_read(&chain, device->memory, 0, &packet->header, sizeof(packet->header))) {
        return VSOCK_SENT_BROKEN;
    }
    switch (vsock_check(&packet->header, device->cid, device->virtio.accepted,
                        chain.readable_bytes - VSOCK_HEADER_BYTES)) {
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

uint16_t vsock_device_queue_copy(struct vsock_device *device, const struct vsock_packet *copy)
{
    uint16_t place = device->free[--device->free_count];

    device->packets[place] = *copy;
    device->packets[place].done_bytes = 0;
    device->packets[place].transfers = 0;
    device->packets[place].begun = false;
    device->copies[copy->head]++;
    return place;
}

uint16_t vsock_device_queue(struct vsock_device *device, const struct vsock_packet *packet)
{
    device->held_descriptors += packet->descriptors;
    virtqueue_take(&device->virtio.queues[VSOCK_QUEUE_TX], packet->head);
    return vsock_device_queue_copy(device, packet);
}

void vsock_device_return(struct vsock_device *device, const struct vsock_packet *packet)
{
    virtqueue_take(&device->virtio.queues[VSOCK_QUEUE_TX], packet->head);
    give(device, VSOCK_QUEUE_TX, packet->head, 0);
}

void vsock_device_answer(struct vsock_device *device, const struct vsock_header *reset)
{
    if (device->answer_count == 0 && vsock_device_deliver_header(device, reset)) {
        return;
    }
    device->answers[device->answer_count++] = *reset;
}

void vsock_device_deliver_answers(struct vsock_device *device)
{
    uint32_t delivered = 0;

    while (delivered < device->answer_count &&
           vsock_device_deliver_header(device, &device->answers[delivered])) {
        delivered++;
    }
    device->answer_count -= delivered;
    for (uint32_t i = 0; i < device->answer_count; i++) {
        device->answers[i] = device->answers[i + delivered];
    }
}

void vsock_device_finish(struct vsock_device *device, uint16_t place)
{
    const struct vsock_packet *packet = &device->packets[place];

    device->free[device->free_count++] = place;
    if (--device->copies[packet->head] == 0) {
        device->held_descriptors -= packet->descriptors;
        give(device, VSOCK_QUEUE_TX, packet->head, 0);
    }
}

bool vsock_device_chain(struct vsock_device *device, uint16_t place, struct virtqueue_chain *chain)
{
    struct virtqueue *queue = queue_of(device, VSOCK_QUEUE_TX);
    const struct vsock_packet *packet = &device->packets[place];

    if (queue == NULL) {
        return false;
    }
    if (!virtqueue_chain_of(queue, device->memory, packet->head, chain) || chain->readable != chain->count ||
        chain->readable_bytes < VSOCK_HEADER_BYTES + (uint64_t)packet->header.bytes) {
        vsock_device_fail(device);
        return false;
    }
    return true;
}

static bool take_buffer(struct vsock_device *device, struct virtqueue_chain *buffer)
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
    virtqueue_take(queue, buffer->head);
    return true;
}

bool vsock_device_has_buffer(struct vsock_device *device)
{
    const struct virtqueue *queue = queue_of(device, VSOCK_QUEUE_RX);
    struct virtqueue_chain buffer;

    return queue != NULL && virtqueue_peek(queue, device->memory, &buffer) != VIRTQUEUE_EMPTY;
}

bool vsock_device_take_buffer(struct vsock_device *device, struct virtqueue_chain *buffer)
{
    bool taken = take_buffer(device, buffer);

    device->awaits_buffer = !taken;
    return taken;
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
