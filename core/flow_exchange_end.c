/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Ends that are gone, and flows that end: what was sent is forgotten, and the other end hears of it.
 */
#include "core/flow_paths.h"

#include "core/atomic.h"
#include <stddef.h>

/* Which packets of a sender are forgotten. */
struct forgotten {
    uint32_t receiver; /* FLOW_EXCHANGE_DEVICES: whoever it is */
    uint32_t path;     /* FLOW_EXCHANGE_PATHS: whichever it is */
};

static bool is_forgotten(const struct forgotten *which, const struct vsock_device *sender, uint32_t slot)
{
    return (which->receiver == FLOW_EXCHANGE_DEVICES ||
            sender->queue.keys[slot].receiver == which->receiver) &&
           (which->path == FLOW_EXCHANGE_PATHS || sender->packets[slot].path == which->path);
}

/* As if it never were sent, if it was not begun with; a connection that it has begun ends. */
static void forget(struct flow_exchange *exchange, struct vsock_device *sender, uint32_t slot)
{
    const struct vsock_packet *packet = &sender->packets[slot];
    struct flow_path *path = &exchange->paths[packet->path];

    spin_lock(&path->lock);
    flow_connections_abort(&path->connections, &packet->header, packet->reverse);
    spin_unlock(&path->lock);
    if (!packet->begun) {
        packet_pace_return(packet->reverse ? &path->back : &path->there, &sender->queue.keys[slot],
                           packet->header.bytes != 0);
    }
    vsock_device_finish(sender, slot);
}

/* Packets of, for or along what is gone do not arrive. Under both locks of the sender. */
static void forget_packets(struct flow_exchange *exchange, struct vsock_device *sender,
                           const struct forgotten *which, struct flow_effects *effects)
{
    for (uint32_t place = sender->queue.count; place > 0; place--) {
        uint32_t slot = sender->queue.order[place - 1];

        if (is_forgotten(which, sender, slot)) {
            forget(exchange, sender, slot);
            effects->lines |= flow_device_set(sender->index);
            effects->attend |= flow_device_set(sender->index);
        }
    }
}

/* The same for another device than the caller's. */
static void forget_packets_of(struct flow_exchange *exchange, uint32_t sender, const struct forgotten *which,
                              struct flow_effects *effects)
{
    vsock_device_lock(exchange->devices[sender]);
    forget_packets(exchange, exchange->devices[sender], which, effects);
    vsock_device_unlock(exchange->devices[sender]);
}

/* What the driver has sent. False: nobody knows of a driver. */
static bool lose_sent(struct flow_exchange *exchange, struct vsock_device *device,
                      struct flow_effects *effects)
{
    const struct forgotten all = {.receiver = FLOW_EXCHANGE_DEVICES, .path = FLOW_EXCHANGE_PATHS};
    bool joined;

    vsock_device_lock(device);
    joined = device->joined;
    if (joined) {
        forget_packets(exchange, device, &all, effects);
        vsock_device_lose(device);
    }
    vsock_device_unlock(device);
    return joined;
}

/* The other end of a flow: packets for the device, and their connection. No new one begins: the device is not
 * up. */
static void lose_path(struct flow_exchange *exchange, struct flow_path *path, uint32_t device, uint32_t end,
                      struct flow_effects *effects)
{
    const struct forgotten for_it = {.receiver = device, .path = FLOW_EXCHANGE_PATHS};
    uint32_t other = end == FLOW_END_SOURCE ? path->destination : path->source;
    uint32_t owed;

    forget_packets_of(exchange, other, &for_it, effects);
    spin_lock(&path->lock);
    owed = flow_connections_lose(&path->connections, end);
    spin_unlock(&path->lock);
    if (owed != 0) {
        effects->attend |= flow_device_set(other);
    }
}

void flow_exchange_lose(struct flow_exchange *exchange, uint32_t index, struct flow_effects *effects)
{
    if (!lose_sent(exchange, exchange->devices[index], effects)) {
        return;
    }
    for (uint32_t i = 0; i < flow_path_count(exchange); i++) {
        struct flow_path *path = &exchange->paths[i];
        uint32_t end = flow_path_end(path, index);

        if (end != 0) {
            lose_path(exchange, path, index, end, effects);
        }
    }
    effects->attend &= ~flow_device_set(index);
}

void flow_exchange_close(struct flow_exchange *exchange, uint32_t number, struct flow_effects *effects)
{
    struct flow_path *path = &exchange->paths[number];
    const struct forgotten of_it = {.receiver = FLOW_EXCHANGE_DEVICES, .path = number};

    spin_lock(&path->lock);
    atomic_word_store_release(&path->open, 0);
    spin_unlock(&path->lock);
    /* Who was about to queue one held the device's `send_lock`, or has not yet seen the path as it was. */
    forget_packets_of(exchange, path->source, &of_it, effects);
    forget_packets_of(exchange, path->destination, &of_it, effects);
    spin_lock(&path->lock);
    (void)flow_connections_lose(&path->connections, 0);
    spin_unlock(&path->lock);
    effects->attend |= flow_device_set(path->source) | flow_device_set(path->destination);
}

bool flow_exchange_touches(const struct flow_exchange *exchange, uint32_t device)
{
    atomic_full_fence(); /* behind what flow_exchange_lose() did */
    return (atomic_word_load_acquire(&exchange->busy) & flow_device_set(device)) != 0;
}

bool flow_exchange_is_unused(struct flow_exchange *exchange, uint32_t number)
{
    struct flow_path *path = &exchange->paths[number];
    bool unused;

    spin_lock(&path->lock);
    unused = path->open == 0 && path->connections.owed == 0 &&
             !(exchange->inflight.transfers && exchange->inflight.path == number);
    spin_unlock(&path->lock);
    return unused;
}
