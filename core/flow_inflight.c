/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The packet in flight: moved transfer by transfer into the receiver's buffers.
 */
#include "core/flow_inflight.h"

#include "core/flow_paths.h"
#include "core/flow_transfers.h"
#include "core/guest_memory.h"
#include <stddef.h>

static struct vsock_packet *packet_of(const struct flow_exchange *exchange)
{
    const struct flow_inflight *inflight = &exchange->inflight;

    return &exchange->devices[inflight->sender]->packets[inflight->place];
}

/* Delivers a buffer with data; returns an empty one to the receiver's queue. */
static void put(struct flow_exchange *exchange)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_device *receiver = exchange->devices[inflight->receiver];

    if (inflight->filled_bytes != 0) {
        const struct vsock_packet *packet = packet_of(exchange);
        struct vsock_header header = packet->header;

        header.bytes = inflight->filled_bytes;
        if (header.type == VSOCK_TYPE_SEQPACKET && packet->done_bytes != packet->header.bytes) {
            header.flags &= ~(VSOCK_FLAG_EOM | VSOCK_FLAG_EOR);
        }
        vsock_device_deliver(receiver, &inflight->buffer, &header);
    } else {
        vsock_device_return_buffer(receiver, &inflight->buffer);
    }
    inflight->holds_buffer = false;
    inflight->filled_bytes = 0;
}

bool flow_inflight_has(const struct flow_exchange *exchange, uint32_t path, enum flow_direction direction)
{
    const struct flow_inflight *inflight = &exchange->inflight;

    return inflight->holds_buffer && inflight->path == path && inflight->direction == direction;
}

/* Number of bytes of a buffer that are used for payload; 0 if the buffer is too short. */
static uint32_t capacity_of(const struct flow_exchange *exchange, const struct virtqueue_chain *buffer,
                            uint32_t left_bytes)
{
    uint64_t room = buffer->writable_bytes - VSOCK_HEADER_BYTES;

    return left_bytes <= room ? left_bytes : (uint32_t)flow_usable_bytes(room, exchange->chunk_bytes);
}

enum flow_take flow_inflight_take(struct flow_exchange *exchange, uint32_t number,
                                  enum flow_direction direction, uint64_t now)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct flow_path *path = &exchange->paths[number];
    uint32_t sender = flow_path_sender(path, direction);
    uint32_t receiver = flow_path_receiver(path, direction);
    uint16_t place = path->lines[direction].first;
    struct virtqueue_chain buffer;

    if (!vsock_device_take_buffer(exchange->devices[receiver], &buffer)) {
        return FLOW_NO_BUFFER;
    }
    if (inflight->holds_buffer) {
        put(exchange);
    }
    inflight->buffer = buffer;
    inflight->holds_buffer = true;
    inflight->path = number;
    inflight->direction = direction;
    inflight->sender = sender;
    inflight->place = place;
    inflight->receiver = receiver;
    inflight->filled_bytes = 0;
    inflight->capacity_bytes =
        capacity_of(exchange, &buffer, packet_of(exchange)->header.bytes - packet_of(exchange)->done_bytes);
    if (inflight->capacity_bytes == 0) {
        put(exchange);
        return FLOW_SHORT_BUFFER;
    }
    if (!vsock_device_chain(exchange->devices[sender], place, &inflight->chain)) {
        put(exchange);
        return FLOW_NO_BUFFER;
    }
    if (!packet_of(exchange)->begun) {
        packet_of(exchange)->begun = true;
        packet_of(exchange)->begun_at = now;
    }
    return FLOW_TAKEN;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

bool flow_exchange_copies(const struct flow_exchange *exchange)
{
    const struct flow_inflight *inflight = &exchange->inflight;

    return exchange->paths[inflight->path].ways[inflight->direction].most_bytes <= exchange->copied_bytes;
}

bool flow_inflight_transfer(struct flow_exchange *exchange)
{
    struct flow_inflight *inflight = &exchange->inflight;
    const struct vsock_packet *packet = packet_of(exchange);
    struct flow_transfer *transfer = &inflight->transfer;
    uint64_t bytes = at_most(exchange->chunk_bytes, packet->header.bytes - packet->done_bytes);

    transfer->source = inflight->sender;
    transfer->destination = inflight->receiver;
    transfer->from_offset = VSOCK_HEADER_BYTES + packet->done_bytes;
    transfer->to_offset = VSOCK_HEADER_BYTES + inflight->filled_bytes;
    bytes = at_most(bytes, inflight->capacity_bytes - inflight->filled_bytes);
    transfer->bytes = (uint32_t)bytes;
    if (!flow_exchange_copies(exchange)) {
        struct flow_piece piece;

        transfer->bytes = flow_exchange_piece(exchange, 0, &piece);
    }
    return transfer->bytes != 0;
}

uint32_t flow_exchange_piece(const struct flow_exchange *exchange, uint32_t offset, struct flow_piece *piece)
{
    const struct flow_inflight *inflight = &exchange->inflight;
    const struct flow_transfer *transfer = &inflight->transfer;
    uint64_t bytes = transfer->bytes - offset;

    bytes =
        at_most(bytes, virtqueue_chain_at(&inflight->chain, transfer->from_offset + offset, &piece->from));
    bytes = at_most(bytes, virtqueue_chain_at(&inflight->buffer, transfer->to_offset + offset, &piece->to));
    bytes = guest_memory_run(exchange->devices[transfer->source]->memory, piece->from, bytes,
                             &piece->from_physical);
    bytes = guest_memory_run(exchange->devices[transfer->destination]->memory, piece->to, bytes,
                             &piece->to_physical);
    return (uint32_t)bytes;
}

void flow_inflight_count_transfer(struct flow_exchange *exchange)
{
    packet_of(exchange)->transfers++;
}

bool flow_inflight_is_in_pieces(const struct flow_exchange *exchange)
{
    const struct flow_inflight *inflight = &exchange->inflight;
    uint32_t most = exchange->paths[inflight->path].ways[inflight->direction].most_transfers;

    return most != 0 && packet_of(exchange)->transfers >= most;
}

bool flow_inflight_complete(struct flow_exchange *exchange)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_packet *packet = packet_of(exchange);
    bool done;

    packet->done_bytes += inflight->transfer.bytes;
    inflight->filled_bytes += inflight->transfer.bytes;
    done = packet->done_bytes == packet->header.bytes;
    if (done || inflight->filled_bytes == inflight->capacity_bytes) {
        put(exchange);
    }
    return done;
}

void flow_inflight_discard(struct flow_exchange *exchange)
{
    exchange->inflight.filled_bytes = 0;
    if (exchange->inflight.holds_buffer) {
        put(exchange);
    }
}

void flow_inflight_forget(struct flow_exchange *exchange, uint32_t path, enum flow_direction direction)
{
    struct flow_inflight *inflight = &exchange->inflight;

    if (!flow_inflight_has(exchange, path, direction)) {
        return;
    }
    exchange->paths[exchange->paths[path].ways[direction].number].statistics.lost++;
    if (inflight->transfers) {
        inflight->gone = true; /* the buffer returns when the transfer into it has ended */
    } else {
        flow_inflight_discard(exchange);
    }
}
