/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What drivers send, and what they are owed. The broker's side is flow_exchange_next.c.
 */
#include "core/flow_paths.h"

#include "core/atomic.h"
#include "core/path_costs.h"
#include <stddef.h>

#define PACKETS_PER_CALL 2u /* of a guest that sends what is given back at once: its core waits so long */
#define RESETS_PER_CALL  4u /* the broker may wait for the lock meanwhile */

static bool is_open(const struct flow_path *path)
{
    return atomic_word_load_acquire(&path->open) != 0;
}

static void deliver_answers(struct vsock_device *device)
{
    while (device->answer_count > 0 && vsock_device_deliver_header(device, &device->answers[0])) {
        device->answer_count--;
        for (uint32_t i = 0; i < device->answer_count; i++) {
            device->answers[i] = device->answers[i + 1];
        }
    }
}

/* Resets that are owed along one path, `*most` at most. */
static void deliver_owed_of(struct flow_path *path, struct vsock_device *device, uint32_t *most)
{
    struct vsock_header reset;
    uint32_t end;

    spin_lock(&path->lock);
    end = flow_path_end(path, device->index);
    while (*most > 0 && flow_connections_owed(&path->connections, end, &reset) &&
           vsock_device_deliver_header(device, &reset)) {
        flow_connections_paid(&path->connections, end, &reset);
        --*most;
    }
    spin_unlock(&path->lock);
}

/* Some of the resets that the driver is owed; true: there may be more that there is room for. */
static bool deliver_owed(struct flow_exchange *exchange, struct vsock_device *device)
{
    uint32_t most = RESETS_PER_CALL;

    for (uint32_t i = 0; i < flow_path_count(exchange); i++) {
        struct flow_path *path = &exchange->paths[i];

        /* A look without the lock: whoever owes one now asks for another. */
        if ((path->connections.owed & flow_path_end(path, device->index)) != 0) {
            deliver_owed_of(path, device, &most);
        }
    }
    return most == 0;
}

/* The flow that a sound packet goes along, or NULL. Those that carry it onward come before those that carry
 * it back. */
static struct flow_path *path_of(struct flow_exchange *exchange, const struct vsock_header *header,
                                 uint32_t *number, bool *reverse)
{
    struct flow_path *back = NULL;
    bool is_back;

    for (uint32_t i = 0; i < flow_path_count(exchange); i++) {
        struct flow_path *path = &exchange->paths[i];

        if (!is_open(path) || !flow_connections_carry(&path->connections, header, &is_back)) {
            continue;
        }
        if (!is_back) {
            *number = i;
            *reverse = false;
            return path;
        }
        if (back == NULL) {
            back = path;
            *number = i;
            *reverse = true;
        }
    }
    return back;
}

/* It is asked again whether the flow carries the packet, because it may just have ended. */
static enum flow_decision decide(struct flow_path *path, const struct vsock_packet *packet,
                                 struct flow_effects *effects)
{
    const struct vsock_header *header = &packet->header;
    enum flow_decision decision = FLOW_ANSWER_RESET;
    bool is_back;

    spin_lock(&path->lock);
    if (is_open(path) && flow_connections_carry(&path->connections, header, &is_back) &&
        is_back == packet->reverse) {
        decision = flow_connections_take(&path->connections, header, packet->reverse, path->most_bytes);
    }
    if (decision == FLOW_ANSWER_RESET || decision == FLOW_ABORT) {
        path->refused++;
        effects->refused |= 1ull << packet->path;
    }
    spin_unlock(&path->lock);
    return decision;
}

static void enqueue(struct flow_path *path, struct vsock_device *device, struct vsock_packet *packet,
                    uint64_t now, struct flow_effects *effects)
{
    struct path_mark mark = path_begin();
    struct packet_pace *pace = packet->reverse ? &path->back : &path->there;
    struct packet_key key = packet_pace_take(pace, now, packet->header.bytes != 0);

    key.flow = packet->path;
    key.receiver = packet->reverse ? path->source : path->destination;
    vsock_device_queue(device, packet, &key);
    path_end(&mark, BH_PATH_PART_QUEUE_INSERT);
    effects->wake = true;
    effects->queued_at = effects->queued_at != 0 ? effects->queued_at : path_now();
}

static void answer(struct vsock_device *device, const struct vsock_packet *packet)
{
    struct vsock_header reset = vsock_reset_of(&packet->header);

    vsock_device_return(device, packet);
    if (packet->header.operation != VSOCK_RESET) {
        vsock_device_answer(device, &reset);
    }
}

static bool is_up(const struct flow_exchange *exchange, uint32_t device)
{
    return atomic_word_load(&exchange->devices[device]->up) != 0;
}

static enum flow_decision decide_route(struct flow_exchange *exchange, struct vsock_packet *packet,
                                       struct flow_path **path, struct flow_effects *effects)
{
    *path = path_of(exchange, &packet->header, &packet->path, &packet->reverse);
    if (*path == NULL ||
        (packet->header.operation == VSOCK_REQUEST && !is_up(exchange, (*path)->destination))) {
        return FLOW_ANSWER_RESET;
    }
    return decide(*path, packet, effects);
}

/* The device's lock is taken when it is clear what becomes of the packet: the broker may wait for it. */
static void route(struct flow_exchange *exchange, struct vsock_device *device, struct vsock_packet *packet,
                  uint64_t now, struct flow_effects *effects)
{
    struct flow_path *path;
    enum flow_decision decision = decide_route(exchange, packet, &path, effects);
    struct path_mark mark;

    path_close(BH_PATH_PART_PARSE, 0);
    mark = path_begin();
    spin_lock(&device->lock);
    path_end(&mark, BH_PATH_PART_QUEUE_LOCK);
    if (decision == FLOW_ANSWER_RESET) {
        answer(device, packet);
    } else if (decision == FLOW_FORWARD && !vsock_device_merge(device, packet)) {
        enqueue(path, device, packet, now, effects);
    } else {
        vsock_device_return(device, packet);
    }
    spin_unlock(&device->lock);
    if (decision == FLOW_ABORT) {
        effects->attend |= flow_device_set(path->source) | flow_device_set(path->destination);
    }
}

/* What is no packet of any flow. */
static void reject(struct vsock_device *device, enum vsock_sent sent, const struct vsock_packet *packet)
{
    spin_lock(&device->lock);
    if (sent == VSOCK_SENT_UNKNOWN) {
        answer(device, packet);
    } else if (sent == VSOCK_SENT_FOREIGN) {
        vsock_device_return(device, packet);
    } else {
        vsock_device_fail(device);
    }
    spin_unlock(&device->lock);
}

/* False: there is nothing that there is room for. */
static bool take_one(struct flow_exchange *exchange, struct vsock_device *device, uint64_t now,
                     struct flow_effects *effects)
{
    struct vsock_packet packet;
    enum vsock_sent sent;

    path_open(BH_PATH_PART_PARSE);
    spin_lock(&device->send_lock);
    sent = vsock_device_peek(device, &packet);
    if (sent == VSOCK_SENT_PACKET) {
        route(exchange, device, &packet, now, effects);
    } else if (sent != VSOCK_SENT_NOTHING) {
        reject(device, sent, &packet);
    }
    spin_unlock(&device->send_lock);
    return sent != VSOCK_SENT_NOTHING;
}

/* Whether a driver works with it now, and whether one has made it fail, which is noticed once. */
static void see_driver(struct vsock_device *device)
{
    const struct virtio_device *virtio = &device->mmio.device;
    bool runs = virtio_device_runs(virtio);

    atomic_word_store(&device->up, runs);
    if (device->joined && !runs && !virtio->stopping && virtio->retiring == 0 && device->failed == 0) {
        vsock_device_fail(device);
    }
    device->joined = device->joined || runs;
}

static void lose_if_failed(struct flow_exchange *exchange, struct vsock_device *device,
                           struct flow_effects *effects)
{
    uint64_t failed;

    spin_lock(&device->lock);
    failed = device->failed;
    atomic_word_store(&device->failed, 0);
    spin_unlock(&device->lock);
    if (failed != 0) {
        flow_exchange_lose(exchange, device->index, effects);
    }
}

void flow_exchange_process_tx(struct flow_exchange *exchange, uint32_t index, uint64_t now,
                              struct flow_effects *effects)
{
    struct vsock_device *device = exchange->devices[index];
    uint32_t taken = 0;
    bool more;

    spin_lock(&device->lock);
    see_driver(device);
    deliver_answers(device);
    more = deliver_owed(exchange, device);
    spin_unlock(&device->lock);
    path_close(BH_PATH_PART_TRANSPORT, 0);
    while (taken < PACKETS_PER_CALL && take_one(exchange, device, now, effects)) {
        taken++;
    }
    effects->lines |= flow_device_set(index);
    lose_if_failed(exchange, device, effects);
    /* Either the broker saw the buffers that are new, or this sees that it waits for some. */
    effects->wake = effects->wake || atomic_word_load(&device->awaited) != 0;
    if (more || taken == PACKETS_PER_CALL) {
        effects->attend |= flow_device_set(index); /* later, when others had their turn */
    }
}

void flow_exchange_open(struct flow_exchange *exchange, uint32_t number,
                        const struct flow_path_parameters *parameters)
{
    struct flow_path *path = &exchange->paths[number];

    spin_lock(&path->lock);
    path->source = parameters->source;
    path->destination = parameters->destination;
    path->most_bytes = parameters->most_bytes;
    path->deadline_ticks = parameters->deadline_ticks;
    path->there = (struct packet_pace){.period_ticks = parameters->period_ticks,
                                       .deadline_ticks = parameters->queued_ticks};
    path->back = path->there;
    path->refused = 0;
    path->statistics = (struct flow_path_statistics){0};
    flow_connections_init(&path->connections, exchange->devices[parameters->source]->cid,
                          exchange->devices[parameters->destination]->cid, parameters->port);
    atomic_word_store_release(&path->open, 1);
    if (number >= exchange->path_count) {
        atomic_word_store_release(&exchange->path_count, number + 1ull);
    }
    spin_unlock(&path->lock);
}
