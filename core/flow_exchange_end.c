/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Devices that are lost and flows that are closed: packets that were sent are dropped, and the other end is
 * sent resets.
 */
#include "core/flow_group.h"
#include "core/flow_paths.h"

#include "core/flow_inflight.h"
#include <stddef.h>

/* Drops the packets of a line and ends the connections that those packets belong to. A packet that has not
 * been begun returns its place in the pace, as if it had never been sent. */
static void drop_line(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction)
{
    struct flow_path *path = &exchange->paths[number];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, direction)];

    flow_inflight_forget(exchange, number, direction);
    while (path->lines[direction].count != 0) {
        uint16_t place = path->lines[direction].first;
        const struct vsock_packet *packet = &sender->packets[place];

        flow_connections_abort(&path->connections, &packet->connection, packet->header.operation,
                               packet->reverse);
        if (!packet->begun) {
            struct packet_key key = packet_line_key(&path->lines[direction], sender->links, place);

            packet_pace_return(&path->lines[direction].pace, &key, packet->header.bytes != 0);
        }
        flow_path_finish_first(exchange, number, direction);
    }
}

static void lose_path(struct flow_exchange *exchange, uint32_t number, uint32_t end, uint64_t now)
{
    struct flow_path *path = &exchange->paths[number];

    drop_line(exchange, number, FLOW_THERE);
    drop_line(exchange, number, FLOW_BACK);
    (void)flow_connections_lose(&path->connections, end);
    if (end == FLOW_END_SOURCE && path->group != 0) {
        flow_group_forget(exchange, number);
    }
    flow_path_settle(exchange, number, now);
}

void flow_exchange_lose(struct flow_exchange *exchange, uint32_t index, uint64_t now)
{
    struct vsock_device *device = exchange->devices[index];

    if (!device->joined) {
        return;
    }
    device->virtio.status = 0; /* no queue of the device is accessed from here on */
    for (uint64_t left = exchange->known; left != 0; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);
        uint32_t end = flow_path_end(&exchange->paths[number], index);

        if (end != 0) {
            lose_path(exchange, number, end, now);
        }
    }
    exchange->sends &= ~flow_device_set(index);
    vsock_device_lose(device);
}

static void add_to_directory(struct flow_exchange *exchange, uint32_t number)
{
    const struct flow_path *path = &exchange->paths[number];
    const struct flow_address address = {
        .source_cid = path->connections.source_cid,
        .destination_cid = path->connections.destination_cid,
        .port = path->connections.port,
    };

    flow_directory_add(&exchange->directory, &address, number);
}

/* The path that holds the lines and connections: a flow that carries replies uses those of the flow that it
 * answers. */
static uint32_t carrier_of(const struct flow_exchange *exchange, uint32_t number)
{
    uint32_t answers = exchange->paths[number].answers;

    return answers == 0 ? number : answers - 1;
}

void flow_exchange_close(struct flow_exchange *exchange, uint32_t number, uint64_t now,
                         struct flow_effects *effects)
{
    struct flow_path *path;

    number = carrier_of(exchange, number);
    path = &exchange->paths[number];
    if (!path->open) {
        return;
    }
    path->open = false;
    if (path->group != 0) {
        flow_group_remove(exchange, number);
    }
    exchange->devices[path->source]->needs = 1; /* a group that has lost a leg needs fewer turns */
    exchange->devices[path->source]->line_count--;
    exchange->devices[path->destination]->line_count--;
    exchange->open &= ~(1ull << number);
    flow_directory_clear(&exchange->directory);
    for (uint64_t left = exchange->open; left != 0; left &= left - 1) {
        add_to_directory(exchange, (uint32_t)__builtin_ctzll(left));
    }
    flow_exchange_share_turns(exchange);
    drop_line(exchange, number, FLOW_THERE);
    drop_line(exchange, number, FLOW_BACK);
    (void)flow_connections_lose(&path->connections, 0);
    flow_path_settle(exchange, number, now);
    flow_exchange_settle(exchange, now, effects);
}

bool flow_exchange_touches(const struct flow_exchange *exchange, uint32_t device)
{
    const struct flow_inflight *inflight = &exchange->inflight;

    return inflight->transfers &&
           (inflight->transfer.source == device || inflight->transfer.destination == device);
}

bool flow_exchange_is_unused(const struct flow_exchange *exchange, uint32_t number)
{
    const struct flow_path *path;

    number = carrier_of(exchange, number);
    path = &exchange->paths[number];
    return !path->open && path->connections.owed == 0 &&
           !(exchange->inflight.transfers && exchange->inflight.path == number);
}
