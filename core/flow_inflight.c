/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A packet on its way: transfer by transfer into the receiver's buffers. On the broker's core.
 */
#include "core/flow_inflight.h"

#include "core/atomic.h"
#include "core/path_costs.h"
#include <stddef.h>

/* The packet in flight, if it is still there. Under its sender's lock. */
static struct vsock_packet *packet_inflight(const struct flow_exchange *exchange)
{
    const struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_device *sender = exchange->devices[inflight->sender];

    return sender->life == inflight->sender_life && sender->packets[inflight->slot].serial == inflight->serial
               ? &sender->packets[inflight->slot]
               : NULL;
}

/* What the buffer in flight holds is delivered; nothing: it goes back. */
void flow_inflight_put(struct flow_exchange *exchange, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_device *receiver = exchange->devices[inflight->receiver];

    if (!inflight->holds_buffer) {
        return;
    }
    inflight->holds_buffer = false;
    inflight->header.bytes = inflight->filled_bytes;
    spin_lock(&receiver->lock);
    if (receiver->life == inflight->receiver_life) {
        if (inflight->filled_bytes != 0) {
            vsock_device_deliver(receiver, &inflight->buffer, &inflight->header);
        } else {
            vsock_device_return_buffer(receiver, &inflight->buffer);
        }
        effects->lines |= flow_device_set(inflight->receiver);
    }
    spin_unlock(&receiver->lock);
    inflight->filled_bytes = 0;
}

static void count(struct flow_path *path, const struct vsock_header *header, const struct packet_key *key,
                  uint64_t now)
{
    struct flow_path_statistics *statistics = &path->statistics;
    uint64_t latency = now - key->release;

    if (header->bytes == 0) {
        statistics->control_packets++;
        return;
    }
    if (statistics->packets == 0 || latency < statistics->latency_least) {
        statistics->latency_least = latency;
    }
    statistics->packets++;
    statistics->bytes += header->bytes;
    statistics->latency_total += latency;
    if (latency > statistics->latency_most) {
        statistics->latency_most = latency;
    }
    statistics->misses += latency > path->deadline_ticks;
}

void flow_inflight_count_lost(struct flow_exchange *exchange, uint32_t path, struct flow_effects *effects)
{
    exchange->paths[path].statistics.lost++;
    effects->counted |= 1ull << path;
}

/* The packet in flight is not delivered: nobody waits for what is in its buffer. */
void flow_inflight_discard(struct flow_exchange *exchange, struct flow_effects *effects)
{
    flow_inflight_count_lost(exchange, exchange->inflight.path, effects);
    exchange->inflight.filled_bytes = 0;
    flow_inflight_put(exchange, effects);
}

/* The packet in `slot` is delivered. Under its sender's lock. */
void flow_inflight_finish(struct flow_exchange *exchange, struct vsock_device *sender, uint32_t slot,
                          uint64_t now, struct flow_effects *effects)
{
    const struct vsock_packet *packet = &sender->packets[slot];
    struct flow_path *path = &exchange->paths[packet->path];

    count(path, &packet->header, &sender->queue.keys[slot], now);
    effects->counted |= 1ull << packet->path;
    if (packet->header.operation == VSOCK_RESET) {
        spin_lock(&path->lock);
        flow_connections_delivered(&path->connections, &packet->header, packet->reverse);
        spin_unlock(&path->lock);
    }
    vsock_device_finish(sender, slot);
    effects->lines |= flow_device_set(sender->index);
    effects->attend |= flow_device_set(sender->index); /* there is room for what its driver sent meanwhile */
}

/* The transfer that was handed out is done. */
void flow_inflight_complete(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_device *sender = exchange->devices[inflight->sender];
    struct vsock_packet *packet;
    uint64_t capacity = inflight->buffer.writable_bytes - VSOCK_HEADER_BYTES;
    bool done = false;

    inflight->transfers = false;
    atomic_word_store_release(&exchange->busy, 0);
    spin_lock(&sender->lock);
    packet = packet_inflight(exchange);
    if (packet != NULL) {
        packet->done_bytes += inflight->transfer.bytes;
        inflight->filled_bytes += inflight->transfer.bytes;
        done = packet->done_bytes == packet->header.bytes;
    }
    spin_unlock(&sender->lock);
    if (packet == NULL) {
        flow_inflight_discard(exchange, effects);
        return;
    }
    if (done || inflight->filled_bytes == capacity) {
        flow_inflight_put(exchange, effects);
    }
    if (done) {
        struct path_mark mark = path_begin();

        /* The receiver has it; only now the sender may use its buffer again. */
        spin_lock(&sender->lock);
        path_end(&mark, BH_PATH_PART_QUEUE_LOCK);
        if (packet_inflight(exchange) != NULL) {
            flow_inflight_finish(exchange, sender, inflight->slot, now, effects);
        }
        spin_unlock(&sender->lock);
    }
}

bool flow_inflight_is_gone(struct flow_exchange *exchange)
{
    struct vsock_device *sender = exchange->devices[exchange->inflight.sender];
    bool gone;

    spin_lock(&sender->lock);
    gone = packet_inflight(exchange) == NULL;
    spin_unlock(&sender->lock);
    return gone;
}

/* The buffer in flight is not for the packet that comes next. What is in it is delivered, if its packet is
 * still there: else nobody waits for it. */
void flow_inflight_drop(struct flow_exchange *exchange, struct flow_effects *effects)
{
    if (exchange->inflight.holds_buffer && flow_inflight_is_gone(exchange)) {
        flow_inflight_discard(exchange, effects);
    } else {
        flow_inflight_put(exchange, effects);
    }
}

bool flow_inflight_has(const struct flow_inflight *inflight, const struct flow_choice *choice)
{
    return inflight->holds_buffer && inflight->sender == choice->sender &&
           inflight->serial == choice->serial && inflight->sender_life == choice->sender_life;
}

/* The choice, with a receive buffer for it, in the place of what was in flight. False: its receiver has none
 * now, and all stays as it was. */
bool flow_inflight_take(struct flow_exchange *exchange, const struct flow_choice *choice,
                        struct flow_effects *effects)
{
    struct vsock_device *receiver = exchange->devices[choice->key.receiver];
    struct flow_inflight *inflight = &exchange->inflight;
    struct virtqueue_chain buffer;
    uint64_t life;
    bool taken;

    spin_lock(&receiver->lock);
    taken = vsock_device_take_buffer(receiver, &buffer);
    life = receiver->life;
    atomic_word_store(&receiver->awaited, !taken);
    spin_unlock(&receiver->lock);
    effects->lines |= flow_device_set(choice->key.receiver);
    if (!taken) {
        return false;
    }
    flow_inflight_drop(exchange, effects);
    *inflight = (struct flow_inflight){
        .holds_buffer = true,
        .path = choice->key.flow,
        .sender = choice->sender,
        .slot = choice->slot,
        .serial = choice->serial,
        .sender_life = choice->sender_life,
        .receiver = choice->key.receiver,
        .receiver_life = life,
        .header = choice->header,
        .buffer = buffer,
        .not_before = inflight->not_before,
    };
    return true;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* The next piece of the packet in flight. False: one of its ends is gone. `busy` is said before both are
 * asked whether they are still there, and flow_exchange_lose() asks in the other order. */
bool flow_inflight_transfer(struct flow_exchange *exchange)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_device *sender = exchange->devices[inflight->sender];
    struct vsock_device *receiver = exchange->devices[inflight->receiver];
    struct vsock_packet *packet;
    uint64_t bytes = exchange->chunk_bytes;
    uint64_t at;

    inflight->transfer.source = inflight->sender;
    inflight->transfer.destination = inflight->receiver;
    atomic_word_store_release(&exchange->busy,
                              flow_device_set(inflight->sender) | flow_device_set(inflight->receiver));
    atomic_full_fence();
    spin_lock(&sender->lock);
    packet = packet_inflight(exchange);
    if (packet != NULL) {
        packet->begun = true;
        bytes = at_most(bytes, packet->header.bytes - packet->done_bytes);
        bytes =
            at_most(bytes, virtqueue_chain_at(&packet->chain, VSOCK_HEADER_BYTES + packet->done_bytes, &at));
        bytes = guest_memory_run(sender->memory, at, bytes, &inflight->transfer.from);
    }
    spin_unlock(&sender->lock);
    if (packet == NULL) {
        return false;
    }
    if (atomic_word_load(&receiver->life) != inflight->receiver_life) {
        bytes = 0;
    } else {
        bytes = at_most(
            bytes, virtqueue_chain_at(&inflight->buffer, VSOCK_HEADER_BYTES + inflight->filled_bytes, &at));
        bytes = guest_memory_run(receiver->memory, at, bytes, &inflight->transfer.to);
    }
    inflight->transfer.bytes = (uint32_t)bytes;
    return bytes != 0;
}

/* What lies in the buffer in flight, which will not be delivered, is copied again. */
void flow_inflight_take_back(struct flow_exchange *exchange)
{
    struct flow_inflight *inflight = &exchange->inflight;
    struct vsock_device *sender = exchange->devices[inflight->sender];
    struct vsock_packet *packet;

    if (!inflight->holds_buffer) {
        return;
    }
    spin_lock(&sender->lock);
    packet = packet_inflight(exchange);
    if (packet != NULL) {
        packet->done_bytes -= inflight->filled_bytes;
    }
    spin_unlock(&sender->lock);
    inflight->filled_bytes = 0;
}
