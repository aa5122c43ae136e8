/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Transmit side of the exchange: packets that guests send, and the resets and credits that the device still
 * has to deliver to them. Transfers are in flow_exchange_next.c.
 */
#include "core/flow_group.h"
#include "core/flow_paths.h"

#include "core/path_costs.h"
#include <stddef.h>
#include <string.h>

void flow_exchange_init(struct flow_exchange *exchange)
{
    exchange->device_count = 0;
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        exchange->device_count += exchange->devices[i] != NULL;
    }
    exchange->known = 0;
    exchange->open = 0;
    exchange->waiting[FLOW_THERE] = 0;
    exchange->waiting[FLOW_BACK] = 0;
    exchange->passed[FLOW_THERE] = 0;
    exchange->passed[FLOW_BACK] = 0;
    exchange->sends = 0;
    exchange->connecting = 0;
    exchange->looked = 0;
    exchange->inflight = (struct flow_inflight){0};
    memset(exchange->groups, 0, sizeof(exchange->groups));
    flow_directory_clear(&exchange->directory);
}

static struct flow_way way_of(uint32_t number, const struct flow_path_parameters *parameters)
{
    return (struct flow_way){
        .number = number,
        .most_bytes = parameters->most_bytes,
        .most_transfers = parameters->most_transfers,
        .period_ns = parameters->period_ns,
        .deadline_ticks = parameters->deadline_ticks,
    };
}

/* Opens the reply direction of a path that carries payload in both directions. Control packets of both
 * directions have the shorter of the two periods (flow_with_control()). */
static void open_back(struct flow_exchange *exchange, uint32_t number,
                      const struct flow_path_parameters *parameters)
{
    struct flow_path *path = &exchange->paths[parameters->answers - 1];
    struct packet_pace *there = &path->lines[FLOW_THERE].pace;
    struct packet_pace *back = &path->lines[FLOW_BACK].pace;

    exchange->paths[number] = (struct flow_path){.answers = parameters->answers};
    path->ways[FLOW_BACK] = way_of(number, parameters);
    back->deadline_ticks = parameters->queued_ticks;
    back->period_ticks[true] = parameters->period_ticks;
    there->period_ticks[false] = packet_sooner(there->period_ticks[true], parameters->period_ticks);
    back->period_ticks[false] = there->period_ticks[false];
    flow_exchange_share_turns(exchange);
}

void flow_exchange_open(struct flow_exchange *exchange, uint32_t number,
                        const struct flow_path_parameters *parameters)
{
    struct flow_path *path = &exchange->paths[number];
    const struct flow_address address = {
        .source_cid = exchange->devices[parameters->source]->cid,
        .destination_cid = exchange->devices[parameters->destination]->cid,
        .port = parameters->port,
    };

    if (parameters->answers != 0) {
        open_back(exchange, number, parameters);
        return;
    }
    *path = (struct flow_path){
        .open = true,
        .source = parameters->source,
        .destination = parameters->destination,
        .group = parameters->group,
        .ways[FLOW_THERE] = way_of(number, parameters),
        .ways[FLOW_BACK] = {.number = number, .deadline_ticks = parameters->deadline_ticks},
    };
    for (uint32_t i = 0; i < FLOW_DIRECTIONS; i++) {
        packet_line_init(&path->lines[i], parameters->period_ticks, parameters->queued_ticks);
    }
    flow_connections_init(&path->connections, address.source_cid, address.destination_cid, address.port,
                          parameters->connections);
    exchange->devices[parameters->source]->line_count++;
    exchange->devices[parameters->destination]->line_count++;
    exchange->known |= 1ull << number;
    exchange->open |= 1ull << number;
    flow_directory_add(&exchange->directory, &address, number);
    if (path->group != 0) {
        flow_group_add(exchange, number);
    }
    flow_exchange_share_turns(exchange);
}

void flow_exchange_set(struct flow_exchange *exchange, uint32_t index, const struct virtio_device *registers,
                       uint32_t anew)
{
    struct vsock_device *device = exchange->devices[index];

    vsock_device_set(device, registers, anew);
    device->joined = device->joined || virtio_device_runs(registers);
}

void flow_exchange_resume(struct flow_exchange *exchange, uint32_t index, uint32_t resumed)
{
    vsock_device_resume(exchange->devices[index], resumed);
}

void flow_exchange_sent(struct flow_exchange *exchange, uint32_t index, uint64_t sent)
{
    struct vsock_device *device = exchange->devices[index];

    if (!device->sends) {
        device->sends = true;
        device->sent_since = sent > exchange->looked ? sent : exchange->looked;
    }
    exchange->sends |= flow_device_set(index);
}

/* Gives packets that were skipped because this device had no receive buffer a new release time. */
static void release_anew(struct flow_exchange *exchange, uint32_t index, uint64_t now)
{
    for (uint32_t direction = 0; direction < FLOW_DIRECTIONS; direction++) {
        for (uint64_t left = exchange->passed[direction]; left != 0; left &= left - 1) {
            uint32_t number = (uint32_t)__builtin_ctzll(left);

            if (flow_path_receiver(&exchange->paths[number], (enum flow_direction)direction) == index) {
                exchange->passed[direction] &= ~(1ull << number);
                flow_path_release_anew(exchange, number, (enum flow_direction)direction, now);
            }
        }
    }
}

void flow_exchange_has_buffers(struct flow_exchange *exchange, uint32_t index, uint64_t now,
                               struct flow_effects *effects)
{
    struct vsock_device *device = exchange->devices[index];

    if (vsock_device_has_buffer(device)) {
        device->awaits_buffer = false;
        release_anew(exchange, index, now);
        vsock_device_deliver_answers(device);
    }
    vsock_device_deliver_event(device);
    if (device->owed != 0) {
        exchange->sends |= flow_device_set(index);
    }
    flow_exchange_settle(exchange, now, effects);
}

/* The flow of a valid packet, or FLOW_DIRECTORY_NONE. A flow in which the packet travels from source to
 * destination is preferred over one in which it is a reply. The receiver of a leg is addressed by its group
 * alone. */
static uint32_t path_of(const struct flow_exchange *exchange, const struct vsock_header *header,
                        bool *reverse)
{
    const struct flow_address there = {header->source_cid, header->destination_cid, header->destination_port};
    const struct flow_address back = {header->destination_cid, header->source_cid, header->source_port};
    uint32_t number = flow_directory_find(&exchange->directory, &there);

    *reverse = number == FLOW_DIRECTORY_NONE || exchange->paths[number].group != 0;
    return *reverse ? flow_directory_find(&exchange->directory, &back) : number;
}

/* The receiver of a leg has sent a packet that its connection may carry. A receiver that wants no more data
 * leaves the group's connection. */
static enum flow_decision hear(struct flow_exchange *exchange, const struct vsock_packet *packet,
                               uint64_t now)
{
    struct flow_connections *connections = &exchange->paths[packet->path].connections;

    if (packet->header.operation != VSOCK_SHUTDOWN) {
        flow_group_hear(exchange, packet->path, &packet->header, now);
        return FLOW_FORWARD;
    }
    if ((packet->header.flags & VSOCK_FLAG_RECEIVES_NO_MORE) == 0) {
        return FLOW_DROP;
    }
    flow_connections_abort(connections, &packet->connection, VSOCK_SHUTDOWN, true);
    return FLOW_ABORT;
}

/* Decides about a packet whose path is known. */
static enum flow_decision decide(struct flow_exchange *exchange, struct vsock_packet *packet, uint64_t now,
                                 struct flow_effects *effects)
{
    enum flow_decision decision = FLOW_ANSWER_RESET;
    struct flow_path *path = &exchange->paths[packet->path];

    if (packet->header.operation != VSOCK_REQUEST || flow_device_runs(exchange, path->destination)) {
        decision =
            flow_connections_take(&path->connections, &packet->header, packet->reverse,
                                  path->ways[flow_direction_of(packet)].most_bytes, &packet->connection);
    }
    if (decision == FLOW_ANSWER_RESET || decision == FLOW_ABORT) {
        flow_path_count(exchange, packet->path, flow_direction_of(packet), effects)->refused++;
    }
    if (decision == FLOW_FORWARD && packet->reverse && path->group != 0) {
        decision = hear(exchange, packet, now);
    }
    if (decision == FLOW_ABORT) {
        path->at_fault |= packet->reverse ? FLOW_END_DESTINATION : FLOW_END_SOURCE;
        flow_path_settle(exchange, packet->path, now);
    }
    return decision;
}

static bool is_credit(const struct vsock_header *header)
{
    return header->operation == VSOCK_CREDIT_UPDATE || header->operation == VSOCK_CREDIT_REQUEST;
}

/* Merges a credit packet into the last packet of the line if both are of the same kind and connection: the
 * newer one replaces the older, because it states the same counter later. */
static bool merge(struct vsock_device *device, const struct packet_line *line,
                  const struct vsock_header *header)
{
    struct vsock_packet *last = line->count != 0 ? &device->packets[line->last] : NULL;

    if (last == NULL || last->begun || !is_credit(header) || last->header.operation != header->operation ||
        last->header.source_port != header->source_port ||
        last->header.destination_port != header->destination_port) {
        return false;
    }
    last->header = *header;
    return true;
}

/* Appends the packet in a place to the line of its direction. */
static void enqueue(struct flow_exchange *exchange, struct vsock_device *device, uint16_t place)
{
    const struct vsock_packet *packet = &device->packets[place];
    enum flow_direction direction = flow_direction_of(packet);
    struct flow_path *path = &exchange->paths[packet->path];
    struct packet_line *line = &path->lines[direction];

    struct packet_key key = packet_pace_take(&line->pace, device->sent_since, packet->header.bytes != 0);

    packet_line_append(line, device->links, place, &key);
    path->descriptors[direction] += packet->descriptors;
    exchange->waiting[direction] |= 1ull << packet->path;
}

static void answer(struct vsock_device *device, const struct vsock_packet *packet)
{
    struct vsock_header reset = vsock_reset_of(&packet->header);

    vsock_device_return(device, packet);
    if (packet->header.operation != VSOCK_RESET) {
        vsock_device_answer(device, &reset);
    }
}

static void take_turns(struct vsock_device *device, uint32_t count)
{
    device->turns_left -= count;
    for (uint32_t i = 0; i < count; i++) {
        flow_turns_take(&device->turns);
    }
}

/* The sender of a group has sent a packet that no connection may carry: the connection ends. */
static void abort_group(struct flow_exchange *exchange, const struct flow_group *group, uint64_t now)
{
    for (uint64_t left = group->legs; left != 0; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);
        struct flow_path *path = &exchange->paths[number];

        path->at_fault |= FLOW_END_SOURCE;
        (void)flow_connections_lose(&path->connections, 0);
        flow_path_settle(exchange, number, now);
    }
}

/* Copies a packet to the legs of its group. Returns the number of legs that the packet belongs to. */
static uint32_t copy_to_legs(struct flow_exchange *exchange, struct vsock_device *device,
                             struct flow_group *group, const struct vsock_packet *packet, uint64_t now,
                             struct flow_effects *effects)
{
    enum flow_decision decision = FLOW_FORWARD;
    uint32_t taken = 0;
    uint32_t queued = 0;

    for (uint64_t left = group->legs; left != 0 && decision != FLOW_ABORT; left &= left - 1) {
        struct vsock_packet copy = *packet;

        copy.path = (uint32_t)__builtin_ctzll(left);
        copy.reverse = false;
        if (!flow_group_copy(exchange, copy.path, &copy.header)) {
            continue;
        }
        decision = decide(exchange, &copy, now, effects);
        taken += decision == FLOW_FORWARD;
        if (decision == FLOW_FORWARD) {
            flow_group_copied(exchange, copy.path, &copy.header);
            if (!merge(device, &exchange->paths[copy.path].lines[FLOW_THERE], &copy.header)) {
                enqueue(exchange, device,
                        queued++ == 0 ? vsock_device_queue(device, &copy)
                                      : vsock_device_queue_copy(device, &copy));
            }
        }
    }
    if (decision == FLOW_ABORT) {
        abort_group(exchange, group, now);
    }
    if (queued == 0) {
        vsock_device_return(device, packet);
    }
    return taken;
}

/* Takes a packet that is addressed to a group. It counts as one packet for each leg, and waits in the ring
 * until its sender has so many turns and places. */
static void route_to_group(struct flow_exchange *exchange, struct vsock_device *device,
                           struct flow_group *group, const struct vsock_packet *packet, uint64_t now,
                           struct flow_effects *effects)
{
    uint32_t legs = group->leg_count;

    if (device->needs < legs && (device->turns_left < legs || device->free_count < legs)) {
        device->needs = legs;
        return;
    }
    take_turns(device, device->needs > legs ? device->needs : legs);
    device->needs = 1;
    if (!flow_group_takes(exchange, group, &packet->header, now)) {
        flow_path_count(exchange, (uint32_t)__builtin_ctzll(group->legs), FLOW_THERE, effects)->refused +=
            packet->header.operation != VSOCK_RESET;
        answer(device, packet);
        return;
    }
    if (copy_to_legs(exchange, device, group, packet, now, effects) == 0 &&
        packet->header.operation == VSOCK_REQUEST) {
        struct vsock_header reset = vsock_reset_of(&packet->header);

        vsock_device_answer(device, &reset);
    }
    flow_group_sent(group, &packet->header);
}

static void route(struct flow_exchange *exchange, struct vsock_device *device, struct vsock_packet *packet,
                  uint64_t now, struct flow_effects *effects)
{
    enum flow_decision decision = FLOW_ANSWER_RESET;

    packet->path = path_of(exchange, &packet->header, &packet->reverse);
    if (packet->path != FLOW_DIRECTORY_NONE) {
        decision = decide(exchange, packet, now, effects);
    }
    if (decision == FLOW_ANSWER_RESET) {
        answer(device, packet);
    } else if (decision == FLOW_FORWARD &&
               !merge(device, &exchange->paths[packet->path].lines[flow_direction_of(packet)],
                      &packet->header)) {
        enqueue(exchange, device, vsock_device_queue(device, packet));
    } else {
        vsock_device_return(device, packet);
    }
}

/* Takes one packet from the device's transmit queue. False if there is none, or the device has failed. */
static bool take_one(struct flow_exchange *exchange, struct vsock_device *device, uint64_t now,
                     struct flow_effects *effects)
{
    struct path_mark mark = path_begin();
    struct flow_group *group;
    struct vsock_packet packet;

    switch (vsock_device_peek(device, &packet)) {
    case VSOCK_SENT_NOTHING:
        return false;
    case VSOCK_SENT_PACKET:
        group = flow_group_of(exchange, device, &packet.header);
        if (group != NULL) {
            route_to_group(exchange, device, group, &packet, now, effects);
            path_end(&mark, BH_PATH_PART_PARSE);
            return true;
        }
        route(exchange, device, &packet, now, effects);
        break;
    case VSOCK_SENT_UNKNOWN:
        answer(device, &packet);
        break;
    case VSOCK_SENT_FOREIGN:
        vsock_device_return(device, &packet);
        break;
    default:
        vsock_device_fail(device);
        return false;
    }
    take_turns(device, device->needs);
    device->needs = 1;
    path_end(&mark, BH_PATH_PART_PARSE);
    return true;
}

static bool has_room(const struct vsock_device *device)
{
    return device->free_count >= device->needs && device->answer_count != VSOCK_ANSWERS;
}

/* Delivers resets for connections that the device's own driver has broken. */
static void deliver_owed(struct flow_exchange *exchange, struct vsock_device *device, uint64_t now)
{
    while (device->owed != 0 && device->turns_left != 0 && !device->awaits_buffer) {
        uint32_t number = (uint32_t)__builtin_ctzll(device->owed);
        struct flow_path *path = &exchange->paths[number];
        uint32_t end = flow_path_end(path, device->index);
        struct vsock_header reset;

        if (flow_connections_owed(&path->connections, end, &reset)) {
            if (!flow_path_deliver_header(exchange, number, end == FLOW_END_SOURCE ? FLOW_BACK : FLOW_THERE,
                                          &reset, now)) {
                return;
            }
            flow_connections_paid(&path->connections, end, &reset);
            take_turns(device, 1);
        } else {
            path->connections.owed &= ~end;
        }
        flow_path_settle(exchange, number, now);
    }
}

/* Takes packets from one device as far as its turns allow. A look includes all devices (core/flow_turns.h),
 * but a device without packets was skipped in the previous look, so its turns of that look are computed
 * first. Packets that are left in the queue count as sent now: a domain that has used up its turns, or whose
 * queue is full, gains no earlier deadline. */
static void take_packets(struct flow_exchange *exchange, struct vsock_device *device, uint64_t now,
                         struct flow_effects *effects)
{
    (void)flow_turns_look(&device->turns, flow_exchange_ns(exchange, exchange->looked));
    device->turns_left = flow_turns_look(&device->turns, flow_exchange_ns(exchange, now));
    deliver_owed(exchange, device, now);
    while (device->sends && has_room(device) && device->turns_left >= device->needs) {
        device->sends = take_one(exchange, device, now, effects);
    }
    device->sent_since = now;
    if (!device->sends && (device->owed == 0 || device->awaits_buffer)) {
        exchange->sends &= ~flow_device_set(device->index);
    }
}

void flow_exchange_woke(struct flow_exchange *exchange, uint64_t woke)
{
    if (exchange->inflight.transfers) {
        return;
    }
    exchange->looked = woke > exchange->looked ? woke : exchange->looked;
    for (uint32_t left = exchange->sends; left != 0; left &= left - 1) {
        struct vsock_device *device = exchange->devices[__builtin_ctz(left)];

        device->sent_since = woke > device->sent_since ? woke : device->sent_since;
    }
}

void flow_exchange_look(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    for (uint32_t left = exchange->sends; left != 0; left &= left - 1) {
        take_packets(exchange, exchange->devices[__builtin_ctz(left)], now, effects);
    }
    exchange->looked = now;
    flow_exchange_settle(exchange, now, effects);
}
