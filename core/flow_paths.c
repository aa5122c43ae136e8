/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Paths: the packets that wait in their lines, and the resets that have to be sent to their ends.
 */
#include "core/flow_paths.h"

#include "core/flow_group.h"
#include "core/flow_inflight.h"
#include <stddef.h>

#define NS_PER_S 1000000000ull

_Static_assert(FLOW_EXCHANGE_PATHS *FLOW_TASKS <= FLOW_MAX, "the tasks of all flows must fit");

static uint64_t path_set(uint32_t number)
{
    return 1ull << number;
}

/* The end to which a direction leads. */
static uint32_t end_of(enum flow_direction direction)
{
    return direction == FLOW_THERE ? FLOW_END_DESTINATION : FLOW_END_SOURCE;
}

uint64_t flow_exchange_ns(const struct flow_exchange *exchange, uint64_t ticks)
{
    return ticks / exchange->counter_hz * NS_PER_S +
           ticks % exchange->counter_hz * NS_PER_S / exchange->counter_hz;
}

uint64_t flow_exchange_ticks(const struct flow_exchange *exchange, uint64_t ns)
{
    return ns / NS_PER_S * exchange->counter_hz +
           (ns % NS_PER_S * exchange->counter_hz + NS_PER_S - 1) / NS_PER_S;
}

void flow_exchange_share_turns(struct flow_exchange *exchange)
{
    struct flow tasks[FLOW_MAX];
    uint32_t count = 0;

    for (uint64_t left = exchange->open; left != 0; left &= left - 1) {
        const struct flow_path *path = &exchange->paths[__builtin_ctzll(left)];
        const struct flow_way *ways = path->ways;
        const struct flow there = {.period_ns = ways[FLOW_THERE].period_ns, .sender = path->source};
        const struct flow back = {.period_ns = ways[FLOW_BACK].period_ns, .sender = path->destination};

        count += flow_with_control(&there, path->destination, back.period_ns, &tasks[count]);
        if (back.period_ns != 0) {
            count += flow_with_control(&back, path->source, there.period_ns, &tasks[count]);
        }
    }
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        if (exchange->devices[i] != NULL) {
            struct flow_share share = flow_turn_share(tasks, count, i);

            flow_turns_change(&exchange->devices[i]->turns, &share);
        }
    }
}

struct flow_path_statistics *flow_path_count(struct flow_exchange *exchange, uint32_t number,
                                             enum flow_direction direction, struct flow_effects *effects)
{
    uint32_t figures = exchange->paths[number].ways[direction].number;

    if (exchange->paths[number].group != 0) {
        exchange->paths[number].statistics.unread = flow_group_unread(exchange, number);
    }
    effects->counted |= path_set(figures);
    return &exchange->paths[figures].statistics;
}

/* Schedules a reset as one more packet in the pace of the direction. */
static void schedule_reset(struct flow_path *path, enum flow_direction direction, uint64_t now)
{
    if (!path->resets[direction]) {
        path->resets[direction] = true;
        path->reset_keys[direction] = packet_pace_take(&path->lines[direction].pace, now, false);
    }
}

static void settle_direction(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                             uint64_t now)
{
    struct flow_path *path = &exchange->paths[number];
    struct vsock_device *receiver = exchange->devices[flow_path_receiver(path, direction)];
    uint32_t end = end_of(direction);
    bool owed = (path->connections.owed & end) != 0;
    bool own_turn = owed && (path->at_fault & end) != 0;

    if (!owed) {
        path->at_fault &= ~end;
    }
    if (own_turn) {
        receiver->owed |= path_set(number);
        exchange->sends |= flow_device_set(receiver->index);
    } else {
        receiver->owed &= ~path_set(number);
    }
    if (owed && !own_turn) {
        schedule_reset(path, direction, now);
    } else {
        path->resets[direction] = false;
    }
    if (path->lines[direction].count != 0 || path->resets[direction]) {
        exchange->waiting[direction] |= path_set(number);
    } else {
        exchange->waiting[direction] &= ~path_set(number);
    }
}

void flow_path_settle(struct flow_exchange *exchange, uint32_t number, uint64_t now)
{
    settle_direction(exchange, number, FLOW_THERE, now);
    settle_direction(exchange, number, FLOW_BACK, now);
}

void flow_path_release_anew(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                            uint64_t now)
{
    struct flow_path *path = &exchange->paths[number];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, direction)];
    struct packet_line *line = &path->lines[direction];
    uint64_t reset = path->resets[direction] ? path->reset_keys[direction].release : UINT64_MAX;
    uint64_t later = 0;

    if (line->count != 0) {
        uint64_t first = packet_line_key(line, sender->links, line->first).release;

        /* what is first is released now, and the other one as long after it as before */
        later = packet_line_release_anew(line, sender->links, reset < first ? now + (first - reset) : now);
    } else if (path->resets[direction] && now > path->reset_keys[direction].release) {
        later = now - path->reset_keys[direction].release;
        line->pace.next_release[0] += later;
        line->pace.last_release += later;
        line->pace.last_deadline += later;
    }
    path->reset_keys[direction].release += later;
    path->reset_keys[direction].deadline += later;
}

bool flow_path_deliver_header(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                              const struct vsock_header *header, uint64_t now)
{
    const struct flow_path *path = &exchange->paths[number];

    return direction == FLOW_BACK && path->group != 0
               ? flow_group_tell(exchange, number, header, now)
               : vsock_device_deliver_header(exchange->devices[flow_path_receiver(path, direction)], header);
}

void flow_path_finish_first(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction)
{
    struct flow_path *path = &exchange->paths[number];
    struct vsock_device *sender = exchange->devices[flow_path_sender(path, direction)];
    uint16_t place = packet_line_take_after(&path->lines[direction], sender->links, PACKET_NONE);

    path->descriptors[direction] -= sender->packets[place].descriptors;
    path->starved_deadline[direction] = 0;
    vsock_device_finish(sender, place);
    if (path->lines[direction].count == 0 && !path->resets[direction]) {
        exchange->waiting[direction] &= ~path_set(number);
    }
}

void flow_path_give_up(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                       uint32_t at_fault, uint64_t now, struct flow_effects *effects)
{
    struct flow_path *path = &exchange->paths[number];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, direction)];
    const struct vsock_packet *packet = &sender->packets[path->lines[direction].first];

    path->at_fault |= at_fault;
    flow_connections_abort(&path->connections, &packet->connection, packet->header.operation,
                           direction == FLOW_BACK);
    flow_path_finish_first(exchange, number, direction);
    flow_path_count(exchange, number, direction, effects)->lost++;
    flow_path_settle(exchange, number, now);
}

void flow_exchange_settle(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        struct vsock_device *device = exchange->devices[i];

        if (device != NULL && device->failed) {
            device->failed = false;
            effects->failed |= flow_device_set(i);
            flow_exchange_lose(exchange, i, now);
        }
    }
    for (uint32_t i = 0; i < FLOW_EXCHANGE_DEVICES; i++) {
        struct vsock_device *device = exchange->devices[i];

        if (device != NULL && device->interrupts) {
            device->interrupts = false;
            effects->lines |= flow_device_set(i);
        }
    }
}
