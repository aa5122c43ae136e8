/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The broker's side of the exchange: transfers by deadline, one at a time.
 */
#include "core/flow_exchange.h"

#include "core/atomic.h"
#include "core/path_costs.h"
#include <string.h>

#define MEBIBYTE_SHIFT 20u

/* The packet in hand, if it is still there. Under its sender's lock. */
static struct vsock_packet *packet_in_hand(const struct flow_exchange *exchange)
{
    const struct flow_hand *hand = &exchange->hand;
    struct vsock_device *sender = exchange->devices[hand->sender];

    return sender->life == hand->sender_life && sender->packets[hand->slot].serial == hand->serial
               ? &sender->packets[hand->slot]
               : NULL;
}

/* What the buffer in hand holds is delivered; nothing: it goes back. */
static void put_buffer(struct flow_exchange *exchange, struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;
    struct vsock_device *receiver = exchange->devices[hand->receiver];

    if (!hand->holds_buffer) {
        return;
    }
    hand->holds_buffer = false;
    hand->header.bytes = hand->filled_bytes;
    spin_lock(&receiver->lock);
    if (receiver->life == hand->receiver_life) {
        if (hand->filled_bytes != 0) {
            vsock_device_deliver(receiver, &hand->buffer, &hand->header);
        } else {
            vsock_device_return_buffer(receiver, &hand->buffer);
        }
        effects->lines |= flow_device_set(hand->receiver);
    }
    spin_unlock(&receiver->lock);
    hand->filled_bytes = 0;
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
    statistics->packets++;
    statistics->bytes += header->bytes;
    statistics->latency_total += latency;
    if (latency > statistics->latency_most) {
        statistics->latency_most = latency;
    }
    statistics->misses += latency > path->deadline_ticks;
}

static void lose_packet(struct flow_exchange *exchange, uint32_t path, struct flow_effects *effects)
{
    exchange->paths[path].statistics.lost++;
    effects->counted |= 1ull << path;
}

/* The packet in `slot` is delivered. Under its sender's lock. */
static void finish(struct flow_exchange *exchange, struct vsock_device *sender, uint32_t slot, uint64_t now,
                   struct flow_effects *effects)
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
static void complete(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;
    struct vsock_device *sender = exchange->devices[hand->sender];
    struct vsock_packet *packet;
    uint64_t capacity = hand->buffer.writable_bytes - VSOCK_HEADER_BYTES;
    bool done = false;

    hand->transfers = false;
    atomic_word_store_release(&exchange->busy, 0);
    spin_lock(&sender->lock);
    packet = packet_in_hand(exchange);
    if (packet != NULL) {
        packet->done_bytes += hand->transfer.bytes;
        hand->filled_bytes += hand->transfer.bytes;
        done = packet->done_bytes == packet->header.bytes;
    }
    spin_unlock(&sender->lock);
    if (packet == NULL) {
        lose_packet(exchange, hand->path, effects);
        hand->filled_bytes = 0; /* nobody waits for it */
        put_buffer(exchange, effects);
        return;
    }
    if (done || hand->filled_bytes == capacity) {
        put_buffer(exchange, effects);
    }
    if (done) {
        struct path_mark mark = path_begin();

        /* The receiver has it; only now the sender may use its buffer again. */
        spin_lock(&sender->lock);
        path_end(&mark, BH_PATH_PART_QUEUE_LOCK);
        if (packet_in_hand(exchange) != NULL) {
            finish(exchange, sender, hand->slot, now, effects);
        }
        spin_unlock(&sender->lock);
    }
}

static bool is_gone(struct flow_exchange *exchange)
{
    struct vsock_device *sender = exchange->devices[exchange->hand.sender];
    bool gone;

    spin_lock(&sender->lock);
    gone = packet_in_hand(exchange) == NULL;
    spin_unlock(&sender->lock);
    return gone;
}

/* The buffer in hand is not for the packet that comes next. What is in it is delivered, if its packet is
 * still there: else nobody waits for it. */
static void drop_hand(struct flow_exchange *exchange, struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;

    if (hand->holds_buffer && is_gone(exchange)) {
        lose_packet(exchange, hand->path, effects);
        hand->filled_bytes = 0;
    }
    put_buffer(exchange, effects);
}

/* A packet that may go now. */
struct choice {
    struct packet_key key;
    struct vsock_header header;
    uint32_t sender;
    uint32_t slot;
    uint64_t serial;
    uint64_t sender_life;
};

/* The earliest deadline over all queues. */
static bool choose(struct flow_exchange *exchange, uint64_t now, uint32_t blocked, struct choice *best,
                   uint64_t *until)
{
    bool found = false;

    *until = PACKET_NEVER;
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        struct vsock_device *device = exchange->devices[i];
        struct path_mark mark;
        uint64_t release;
        uint32_t slot;

        /* A look without the lock: who inserts wakes the broker afterwards. */
        if (device == NULL ||
            packet_queue_head(&device->queue) >= (found ? best->key.deadline : PACKET_NEVER)) {
            continue;
        }
        mark = path_begin();
        spin_lock(&device->lock);
        slot = packet_queue_first(&device->queue, now, blocked, &release);
        if (slot != PACKET_NONE && (!found || device->queue.keys[slot].deadline < best->key.deadline)) {
            *best = (struct choice){
                .key = device->queue.keys[slot],
                .header = device->packets[slot].header,
                .sender = i,
                .slot = slot,
                .serial = device->packets[slot].serial,
                .sender_life = device->life,
            };
            found = true;
        }
        spin_unlock(&device->lock);
        *until = release < *until ? release : *until;
        path_end(&mark, BH_PATH_PART_FIND_EARLIEST);
    }
    return found;
}

static bool is_in_hand(const struct flow_hand *hand, const struct choice *choice)
{
    return hand->holds_buffer && hand->sender == choice->sender && hand->serial == choice->serial &&
           hand->sender_life == choice->sender_life;
}

/* The choice, with a receive buffer for it, in the place of what was in hand. False: its receiver has none
 * now, and all stays as it was. */
static bool take_in_hand(struct flow_exchange *exchange, const struct choice *choice,
                         struct flow_effects *effects)
{
    struct vsock_device *receiver = exchange->devices[choice->key.receiver];
    struct flow_hand *hand = &exchange->hand;
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
    drop_hand(exchange, effects);
    *hand = (struct flow_hand){
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
        .not_before = hand->not_before,
    };
    return true;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* The next piece of the packet in hand. False: one of its ends is gone. `busy` is said before both are asked
 * whether they are still there, and flow_exchange_lose() asks in the other order. */
static bool make_transfer(struct flow_exchange *exchange)
{
    struct flow_hand *hand = &exchange->hand;
    struct vsock_device *sender = exchange->devices[hand->sender];
    struct vsock_device *receiver = exchange->devices[hand->receiver];
    struct vsock_packet *packet;
    uint64_t bytes = exchange->chunk_bytes;
    uint64_t at;

    hand->transfer.source = hand->sender;
    hand->transfer.destination = hand->receiver;
    atomic_word_store_release(&exchange->busy,
                              flow_device_set(hand->sender) | flow_device_set(hand->receiver));
    atomic_full_fence();
    spin_lock(&sender->lock);
    packet = packet_in_hand(exchange);
    if (packet != NULL) {
        packet->begun = true;
        bytes = at_most(bytes, packet->header.bytes - packet->done_bytes);
        bytes =
            at_most(bytes, virtqueue_chain_at(&packet->chain, VSOCK_HEADER_BYTES + packet->done_bytes, &at));
        bytes = guest_memory_run(sender->memory, at, bytes, &hand->transfer.from);
    }
    spin_unlock(&sender->lock);
    if (packet == NULL) {
        return false;
    }
    if (atomic_word_load(&receiver->life) != hand->receiver_life) {
        bytes = 0;
    } else {
        bytes =
            at_most(bytes, virtqueue_chain_at(&hand->buffer, VSOCK_HEADER_BYTES + hand->filled_bytes, &at));
        bytes = guest_memory_run(receiver->memory, at, bytes, &hand->transfer.to);
    }
    hand->transfer.bytes = (uint32_t)bytes;
    return bytes != 0;
}

static bool is_there(const struct vsock_device *sender, const struct choice *choice)
{
    return sender->life == choice->sender_life && sender->packets[choice->slot].serial == choice->serial;
}

/* The header of a choice as it is now; nothing is merged into it any more. */
static struct vsock_header take_header(struct vsock_device *sender, const struct choice *choice)
{
    struct vsock_header header = choice->header;

    spin_lock(&sender->lock);
    if (is_there(sender, choice)) {
        sender->packets[choice->slot].begun = true;
        header = sender->packets[choice->slot].header;
    }
    spin_unlock(&sender->lock);
    return header;
}

/* A packet without payload needs no transfer: a header is delivered here. */
static bool deliver_control(struct flow_exchange *exchange, const struct choice *choice, uint64_t now,
                            struct flow_effects *effects)
{
    struct vsock_device *sender = exchange->devices[choice->sender];
    struct vsock_device *receiver = exchange->devices[choice->key.receiver];
    struct vsock_header header = take_header(sender, choice);
    bool delivered;

    spin_lock(&receiver->lock);
    delivered = vsock_device_deliver_header(receiver, &header);
    atomic_word_store(&receiver->awaited, !delivered);
    spin_unlock(&receiver->lock);
    effects->lines |= flow_device_set(choice->key.receiver);
    if (!delivered) {
        return false;
    }
    spin_lock(&sender->lock);
    if (is_there(sender, choice)) {
        finish(exchange, sender, choice->slot, now, effects);
    }
    spin_unlock(&sender->lock);
    return true;
}

static uint64_t ticks_at_rate(const struct flow_exchange *exchange, uint32_t bytes)
{
    return (bytes * exchange->ticks_per_mebibyte + (1ull << MEBIBYTE_SHIFT) - 1) >> MEBIBYTE_SHIFT;
}

/* The next transfer of the packet in hand, or its end. */
static enum flow_next serve_payload(struct flow_exchange *exchange, uint64_t now,
                                    struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;

    if (!make_transfer(exchange)) {
        atomic_word_store_release(&exchange->busy, 0);
        lose_packet(exchange, hand->path, effects);
        hand->filled_bytes = 0;
        put_buffer(exchange, effects);
        return FLOW_NEXT_AGAIN;
    }
    hand->transfers = true;
    hand->not_before = now + ticks_at_rate(exchange, hand->transfer.bytes);
    return FLOW_NEXT_TRANSFER;
}

/* What becomes of a choice. False: its receiver has no buffer. */
static bool serve(struct flow_exchange *exchange, const struct choice *choice, uint64_t now,
                  struct flow_effects *effects, enum flow_next *answer)
{
    if (choice->header.bytes == 0) {
        *answer = FLOW_NEXT_AGAIN;
        path_close(BH_PATH_PART_PROGRAM_DMA, 0);
        path_open(BH_PATH_PART_FINALIZE);
        return deliver_control(exchange, choice, now, effects);
    }
    if (!is_in_hand(&exchange->hand, choice) && !take_in_hand(exchange, choice, effects)) {
        return false;
    }
    *answer = serve_payload(exchange, now, effects);
    return true;
}

/* A receiver that has had no buffer for so long does not read: whoever sends to others shall not wait for it.
 */
static void give_up(struct flow_exchange *exchange, const struct choice *choice, struct flow_effects *effects)
{
    struct vsock_device *sender = exchange->devices[choice->sender];
    struct flow_path *path = &exchange->paths[choice->key.flow];
    bool reverse = choice->key.receiver == path->source;

    spin_lock(&sender->lock);
    if (is_there(sender, choice)) { /* else its connection has ended with it, and the port may be another's */
        vsock_device_finish(sender, choice->slot);
        spin_lock(&path->lock);
        flow_connections_abort(&path->connections, &choice->header, reverse);
        spin_unlock(&path->lock);
    }
    spin_unlock(&sender->lock);
    lose_packet(exchange, choice->key.flow, effects);
    effects->lines |= flow_device_set(choice->sender);
    effects->attend |= flow_device_set(path->source) | flow_device_set(path->destination);
}

/* Those whose guests have written what cannot be: their own cores lose them, which takes long. */
static void ask_failed(struct flow_exchange *exchange, struct flow_effects *effects)
{
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        const struct vsock_device *device = exchange->devices[i];

        if ((effects->lines & flow_device_set(i)) != 0 &&
            __atomic_load_n(&device->failed, __ATOMIC_RELAXED)) {
            effects->attend |= flow_device_set(i);
        }
    }
}

void flow_exchange_done(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    if (exchange->hand.transfers) {
        complete(exchange, now, effects);
    }
    ask_failed(exchange, effects);
}

/* What the engine took for its latest transfer, if this choice has waited since then. */
static void stamp_turn(const struct flow_exchange *exchange, const struct choice *choice)
{
    if (choice->key.release <= path_opened_at(BH_PATH_PART_ENGINE)) {
        path_close(BH_PATH_PART_ENGINE, ticks_at_rate(exchange, exchange->hand.transfer.bytes));
    }
    path_drop(BH_PATH_PART_ENGINE);
    path_open(BH_PATH_PART_PROGRAM_DMA);
}

static enum flow_next next_of(struct flow_exchange *exchange, uint64_t now, struct flow_transfer *transfer,
                              uint64_t *until, struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;
    enum flow_next answer = FLOW_NEXT_NOTHING;
    struct choice choice;
    uint64_t patient = PACKET_NEVER;
    uint32_t blocked = 0;

    flow_exchange_done(exchange, now, effects);
    if (hand->holds_buffer && is_gone(exchange)) {
        drop_hand(exchange, effects);
    }
    if (now < hand->not_before) {
        *until = hand->not_before;
        return FLOW_NEXT_NOTHING;
    }
    while (choose(exchange, now, blocked, &choice, until)) {
        stamp_turn(exchange, &choice);
        if (serve(exchange, &choice, now, effects, &answer)) {
            *transfer = hand->transfer;
            return answer;
        }
        if (now > choice.key.deadline + exchange->patience_ticks) {
            give_up(exchange, &choice, effects);
            return FLOW_NEXT_AGAIN;
        }
        patient = at_most(patient, choice.key.deadline + exchange->patience_ticks + 1);
        blocked |= flow_device_set(choice.key.receiver);
    }
    *until = at_most(*until, patient);
    return FLOW_NEXT_NOTHING;
}

enum flow_next flow_exchange_next(struct flow_exchange *exchange, uint64_t now,
                                  struct flow_transfer *transfer, uint64_t *until,
                                  struct flow_effects *effects)
{
    enum flow_next answer = next_of(exchange, now, transfer, until, effects);

    ask_failed(exchange, effects);
    return answer;
}

void flow_exchange_fail(struct flow_exchange *exchange, struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;
    const struct choice failed = {
        .key = {.flow = hand->path, .receiver = hand->receiver},
        .header = hand->header,
        .sender = hand->sender,
        .slot = hand->slot,
        .serial = hand->serial,
        .sender_life = hand->sender_life,
    };

    hand->transfers = false;
    atomic_word_store_release(&exchange->busy, 0);
    hand->filled_bytes = 0;
    put_buffer(exchange, effects);
    give_up(exchange, &failed, effects);
}

/* What lies in the buffer in hand, which will not be delivered, is copied again. */
static void take_back(struct flow_exchange *exchange)
{
    struct flow_hand *hand = &exchange->hand;
    struct vsock_device *sender = exchange->devices[hand->sender];
    struct vsock_packet *packet;

    if (!hand->holds_buffer) {
        return;
    }
    spin_lock(&sender->lock);
    packet = packet_in_hand(exchange);
    if (packet != NULL) {
        packet->done_bytes -= hand->filled_bytes;
    }
    spin_unlock(&sender->lock);
    hand->filled_bytes = 0;
}

void flow_exchange_stop(struct flow_exchange *exchange, struct flow_effects *effects)
{
    struct flow_hand *hand = &exchange->hand;

    atomic_word_store_release(&exchange->busy, 0);
    hand->transfers = false;
    take_back(exchange);
    put_buffer(exchange, effects);
    memset(hand, 0, sizeof(*hand));
}
