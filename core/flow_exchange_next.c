/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The broker's side of the exchange: transfers by deadline, one at a time.
 */
#include "core/flow_inflight.h"

#include "core/atomic.h"
#include "core/path_costs.h"
#include <string.h>

#define MEBIBYTE_SHIFT 20u

/* The earliest deadline over all queues. */
static bool choose(struct flow_exchange *exchange, uint64_t now, uint32_t blocked, struct flow_choice *best,
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
            *best = (struct flow_choice){
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

static bool is_there(const struct vsock_device *sender, const struct flow_choice *choice)
{
    return sender->life == choice->sender_life && sender->packets[choice->slot].serial == choice->serial;
}

/* The header of a choice as it is now; nothing is merged into it any more. */
static struct vsock_header take_header(struct vsock_device *sender, const struct flow_choice *choice)
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
static bool deliver_control(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
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
        flow_inflight_finish(exchange, sender, choice->slot, now, effects);
    }
    spin_unlock(&sender->lock);
    return true;
}

static uint64_t ticks_at_rate(const struct flow_exchange *exchange, uint32_t bytes)
{
    return (bytes * exchange->ticks_per_mebibyte + (1ull << MEBIBYTE_SHIFT) - 1) >> MEBIBYTE_SHIFT;
}

/* The next transfer of the packet in flight, or its end. */
static enum flow_next serve_payload(struct flow_exchange *exchange, uint64_t now,
                                    struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;

    if (!flow_inflight_transfer(exchange)) {
        atomic_word_store_release(&exchange->busy, 0);
        flow_inflight_discard(exchange, effects);
        return FLOW_NEXT_AGAIN;
    }
    inflight->transfers = true;
    inflight->not_before = now + ticks_at_rate(exchange, inflight->transfer.bytes);
    return FLOW_NEXT_TRANSFER;
}

/* What becomes of a choice. False: its receiver has no buffer. */
static bool serve(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                  struct flow_effects *effects, enum flow_next *answer)
{
    if (choice->header.bytes == 0) {
        *answer = FLOW_NEXT_AGAIN;
        path_close(BH_PATH_PART_PROGRAM_DMA, 0);
        path_open(BH_PATH_PART_FINALIZE);
        return deliver_control(exchange, choice, now, effects);
    }
    if (!flow_inflight_has(&exchange->inflight, choice) && !flow_inflight_take(exchange, choice, effects)) {
        return false;
    }
    *answer = serve_payload(exchange, now, effects);
    return true;
}

/* A receiver that has had no buffer for so long does not read: whoever sends to others shall not wait for it.
 */
static void give_up(struct flow_exchange *exchange, const struct flow_choice *choice,
                    struct flow_effects *effects)
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
    flow_inflight_count_lost(exchange, choice->key.flow, effects);
    effects->lines |= flow_device_set(choice->sender);
    effects->attend |= flow_device_set(path->source) | flow_device_set(path->destination);
}

/* Those whose guests have written what cannot be: their own cores lose them, which takes long. */
static void ask_failed(struct flow_exchange *exchange, struct flow_effects *effects)
{
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        const struct vsock_device *device = exchange->devices[i];

        if ((effects->lines & flow_device_set(i)) != 0 && atomic_word_load(&device->failed) != 0) {
            effects->attend |= flow_device_set(i);
        }
    }
}

void flow_exchange_done(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    if (exchange->inflight.transfers) {
        flow_inflight_complete(exchange, now, effects);
    }
    ask_failed(exchange, effects);
}

/* What the engine took for its latest transfer, if this choice has waited since then. */
static void stamp_turn(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    if (choice->key.release <= path_opened_at(BH_PATH_PART_ENGINE)) {
        path_close(BH_PATH_PART_ENGINE, ticks_at_rate(exchange, exchange->inflight.transfer.bytes));
    }
    path_drop(BH_PATH_PART_ENGINE);
    path_open(BH_PATH_PART_PROGRAM_DMA);
}

static enum flow_next next_of(struct flow_exchange *exchange, uint64_t now, struct flow_transfer *transfer,
                              uint64_t *until, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;
    enum flow_next answer = FLOW_NEXT_NOTHING;
    struct flow_choice choice;
    uint64_t patient = PACKET_NEVER;
    uint32_t blocked = 0;

    flow_exchange_done(exchange, now, effects);
    if (inflight->holds_buffer && flow_inflight_is_gone(exchange)) {
        flow_inflight_discard(exchange, effects);
    }
    if (now < inflight->not_before) {
        *until = inflight->not_before;
        return FLOW_NEXT_NOTHING;
    }
    while (choose(exchange, now, blocked, &choice, until)) {
        stamp_turn(exchange, &choice);
        if (serve(exchange, &choice, now, effects, &answer)) {
            *transfer = inflight->transfer;
            return answer;
        }
        if (now > choice.key.deadline + exchange->patience_ticks) {
            give_up(exchange, &choice, effects);
            return FLOW_NEXT_AGAIN;
        }
        patient = packet_sooner(patient, choice.key.deadline + exchange->patience_ticks + 1);
        blocked |= flow_device_set(choice.key.receiver);
    }
    *until = packet_sooner(*until, patient);
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
    struct flow_inflight *inflight = &exchange->inflight;
    const struct flow_choice failed = {
        .key = {.flow = inflight->path, .receiver = inflight->receiver},
        .header = inflight->header,
        .sender = inflight->sender,
        .slot = inflight->slot,
        .serial = inflight->serial,
        .sender_life = inflight->sender_life,
    };

    inflight->transfers = false;
    atomic_word_store_release(&exchange->busy, 0);
    inflight->filled_bytes = 0;
    flow_inflight_put(exchange, effects);
    give_up(exchange, &failed, effects);
}

void flow_exchange_stop(struct flow_exchange *exchange, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;

    atomic_word_store_release(&exchange->busy, 0);
    inflight->transfers = false;
    flow_inflight_take_back(exchange);
    flow_inflight_put(exchange, effects);
    memset(inflight, 0, sizeof(*inflight));
}
