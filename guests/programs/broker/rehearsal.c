// SPDX-License-Identifier: Apache-2.0
//
// Both ends have their queues and buffers in three pages each, which the exchange accesses like those of a
// domain. No payload is copied between them.
#include "guests/programs/broker/rehearsal.h"
#include "guests/programs/broker/memory.h"

#include <string.h>

enum {
    ends = 2,
    rounds = 3, // the second round finds the lines that the first has fetched; a third covers code that
                // depends on history
    entries = 8,
    buffers = entries / 2, // a header and a payload each
    payload_bytes = 256,
    own_pages = 3, // queue to receive, queue to send, buffers
    first_cid = 3,
    server_port = 1,
    client_port = 2,
    pause_ticks = 1 << 20, // between two packets: all credit is available again
    counter_hz = 1 << 30,
    descriptor_next = 1,
    descriptor_write = 2,
};

static const uint64_t first_address = 1 << 20; // guest-physical

struct ring {
    struct {
        uint64_t at;
        uint32_t bytes;
        uint16_t flags;
        uint16_t next;
    } descriptors[entries];
    struct {
        uint16_t flags;
        uint16_t index;
        uint16_t ring[entries];
    } available;
    _Alignas(64) struct {
        uint16_t flags;
        uint16_t index;
        struct {
            uint32_t head;
            uint32_t written;
        } ring[entries];
    } used;
};

struct buffer {
    struct vsock_header header;
    uint8_t payload[payload_bytes];
};

static struct end {
    _Alignas(BH_PAGE_BYTES) struct ring receives;
    _Alignas(BH_PAGE_BYTES) struct ring sends;
    _Alignas(BH_PAGE_BYTES) struct buffer received[buffers];
    struct buffer sent[buffers];
    struct virtqueue_progress progress[VSOCK_QUEUES];
} both[ends];

_Static_assert(offsetof(struct end, progress) <= own_pages * BH_PAGE_BYTES, "what the exchange reaches");

static uint64_t address_of(const struct end *end, const void *at)
{
    return first_address + (uint64_t)((const char *)at - (const char *)end);
}

// A buffer's two descriptors.
static void give(struct end *end, struct ring *ring, struct buffer *buffer, uint32_t number, uint16_t flags)
{
    uint32_t head = number % buffers * 2;
    uint32_t bytes = flags == 0 ? buffer->header.bytes : payload_bytes;
    uint16_t more = bytes != 0 ? descriptor_next : 0;

    ring->descriptors[head].at = address_of(end, &buffer->header);
    ring->descriptors[head].bytes = VSOCK_HEADER_BYTES;
    ring->descriptors[head].flags = flags | more;
    ring->descriptors[head].next = (uint16_t)(head + 1);
    ring->descriptors[head + 1].at = address_of(end, buffer->payload);
    ring->descriptors[head + 1].bytes = bytes;
    ring->descriptors[head + 1].flags = flags;
    ring->available.ring[ring->available.index % entries] = (uint16_t)head;
    ring->available.index++;
}

static void give_buffer(struct end *end)
{
    uint32_t number = end->receives.available.index % buffers;

    give(end, &end->receives, &end->received[number], number, descriptor_write);
}

static void set_queue(struct virtqueue *queue, const struct end *end, const struct ring *ring)
{
    queue->descriptors = address_of(end, ring->descriptors);
    queue->available = address_of(end, &ring->available);
    queue->used = address_of(end, &ring->used);
    queue->entries = entries;
    queue->ready = true;
}

static void start(struct flow_exchange *exchange, struct vsock_device *device, uint32_t index)
{
    struct end *end = &both[index];
    struct virtio_device registers;

    vsock_device_init(device, memory_of_own(index, first_address, (char *)end, own_pages), index,
                      first_cid + index, end->progress);
    virtio_device_init(&registers, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
    registers.accepted = VSOCK_DEVICE_FEATURES;
    registers.status = VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER | VIRTIO_STATUS_FEATURES_OK |
                       VIRTIO_STATUS_DRIVER_OK;
    set_queue(&registers.queues[VSOCK_QUEUE_RX], end, &end->receives);
    set_queue(&registers.queues[VSOCK_QUEUE_TX], end, &end->sends);
    exchange->devices[index] = device;
    flow_exchange_set(exchange, index, &registers, 0);
    for (uint32_t i = 0; i < buffers; i++)
        give_buffer(end);
}

static void open(struct flow_exchange *exchange, uint32_t number)
{
    const struct flow_path_parameters parameters = {
        .source = number,
        .destination = 1 - number,
        .port = server_port,
        .most_bytes = payload_bytes,
        .period_ns = 1000,
        .period_ticks = 1000,
        .deadline_ticks = pause_ticks,
        .queued_ticks = pause_ticks,
        .connections = number == 0,
        .answers = number, // the second path is the way back of the first
    };

    flow_exchange_open(exchange, number, &parameters);
}

// Sends one packet from one end to the other, and handles all that follows from it.
static void say(struct flow_exchange *exchange, uint32_t from, enum vsock_operation operation, uint64_t now)
{
    struct end *end = &both[from];
    uint32_t number = end->sends.available.index % buffers;
    struct flow_effects effects = {0};
    uint64_t until;
    enum flow_next next;

    end->sent[number].header = (struct vsock_header){
        .source_cid = first_cid + from,
        .destination_cid = first_cid + 1 - from,
        .source_port = from == 0 ? client_port : server_port,
        .destination_port = from == 0 ? server_port : client_port,
        .bytes = operation == VSOCK_PAYLOAD ? payload_bytes : 0,
        .type = VSOCK_TYPE_STREAM,
        .operation = (uint16_t)operation,
        .buffer_bytes = payload_bytes,
    };
    give(end, &end->sends, &end->sent[number], number, 0);
    flow_exchange_sent(exchange, from, now);
    flow_exchange_look(exchange, now, &effects);
    do {
        next = flow_exchange_next(exchange, now, &until, &effects);
        if (next == FLOW_NEXT_TRANSFER)
            flow_exchange_done(exchange, now, &effects);
    } while (next != FLOW_NEXT_NOTHING);
    give_buffer(&both[1 - from]);
    flow_exchange_has_buffers(exchange, 1 - from, now, &effects);
}

static void converse(struct flow_exchange *exchange, uint64_t now)
{
    static const struct {
        uint8_t from;
        uint8_t operation;
    } lines[] = {
        {0, VSOCK_REQUEST}, {1, VSOCK_RESPONSE},      {0, VSOCK_PAYLOAD},  {1, VSOCK_CREDIT_UPDATE},
        {1, VSOCK_PAYLOAD}, {0, VSOCK_CREDIT_UPDATE}, {0, VSOCK_SHUTDOWN}, {1, VSOCK_RESET},
    };

    for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        say(exchange, lines[i].from, (enum vsock_operation)lines[i].operation, now + i * pause_ticks);
}

void rehearse(struct flow_exchange *exchange, struct vsock_device devices[2], struct flow_path paths[2])
{
    exchange->paths = paths;
    exchange->counter_hz = counter_hz;
    exchange->chunk_bytes = payload_bytes;
    exchange->patience_ticks = pause_ticks;
    exchange->ticks_per_mebibyte = 1;
    exchange->copied_bytes = UINT32_MAX;
    for (uint32_t i = 0; i < ends; i++)
        start(exchange, &devices[i], i);
    flow_exchange_init(exchange);
    for (uint32_t i = 0; i < ends; i++)
        open(exchange, i);
    for (uint32_t i = 1; i <= rounds; i++)
        converse(exchange, (uint64_t)i * 16 * pause_ticks);
    memset(exchange, 0, sizeof(*exchange));
}
