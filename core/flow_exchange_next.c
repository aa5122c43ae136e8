/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Chooses transfers, earliest deadline first, one at a time.
 */
#include "core/flow_group.h"
#include "core/flow_inflight.h"
#include "core/flow_paths.h"

#include "core/path_costs.h"
#include <stddef.h>

#define MEBIBYTE_SHIFT 20u
#define QUARTERS       4u

/* A packet or reset that may be transferred next. */
struct flow_choice {
    struct packet_key key;
    uint32_t path;
    enum flow_direction direction;
    bool reset;    /* deliver a reset, instead of the first packet of the line */
    bool hopeless; /* the receiver has had no buffer for so long that the packet is dropped */
};

static struct packet_key first_key(const struct flow_exchange *exchange, const struct flow_path *path,
                                   enum flow_direction direction)
{
    const struct packet_line *line = &path->lines[direction];

    return packet_line_key(line, exchange->devices[flow_path_sender(path, direction)]->links, line->first);
}

/* The most urgent transfer of one line: its reset or its first packet. */
static struct flow_choice candidate(const struct flow_exchange *exchange, uint32_t number,
                                    enum flow_direction direction)
{
    const struct flow_path *path = &exchange->paths[number];
    struct flow_choice choice = {.path = number, .direction = direction, .reset = path->resets[direction]};

    if (choice.reset) {
        choice.key = path->reset_keys[direction];
    }
    if (path->lines[direction].count != 0) {
        struct packet_key first = first_key(exchange, path, direction);

        if (!choice.reset || first.release < choice.key.release) {
            choice.key = first;
            choice.reset = false;
        }
    }
    return choice;
}

/* Whether less than a quarter of `all` is left, and one of `lines` lines has more than its share of the
 * rest. */
static bool is_unfair(uint32_t own, uint32_t lines, uint32_t held, uint32_t all)
{
    return held * QUARTERS > all * (QUARTERS - 1) && own * lines > held;
}

/* Whether a line that waits for receive buffers blocks its sender's other flows, because it holds too many of
 * the driver's descriptors or, where packets have several copies, of the places. */
static bool holds_too_much(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    const struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, choice->direction)];

    return is_unfair(path->descriptors[choice->direction], sender->line_count, sender->held_descriptors,
                     sender->virtio.queues[VSOCK_QUEUE_TX].entries) ||
           is_unfair(path->lines[choice->direction].count, sender->line_count,
                     VSOCK_PLACES - sender->free_count, VSOCK_PLACES);
}

/* How long the first packet of a line whose receiver has no buffer may wait. If that time is over, makes this
 * packet the choice, as hopeless. The time counts from the deadline that the packet had at first: to be
 * released anew gives it no more time, or a receiver could hold up a sender for ever by notifications
 * alone. A reset takes no descriptors of a sender, so it waits without a limit, and the packet behind it as
 * if there were no reset. */
static uint64_t wait_limit(struct flow_exchange *exchange, struct flow_choice *choice, uint64_t now)
{
    struct flow_path *path = &exchange->paths[choice->path];
    uint64_t *deadline = &path->starved_deadline[choice->direction];
    struct packet_key first;
    uint64_t until;

    if (path->lines[choice->direction].count == 0) {
        return PACKET_NEVER;
    }
    first = first_key(exchange, path, choice->direction);
    if (*deadline == 0) {
        *deadline = first.deadline;
    }
    until = *deadline + (holds_too_much(exchange, choice) ? 0 : exchange->patience_ticks);
    if (now > until) {
        choice->key = first;
        choice->reset = false;
        choice->hopeless = true;
    }
    return until + 1;
}

/* Whether news for the sender of a group wait until the group's receivers have answered
 * (flow_group_awaits()). When they have waited, they are released anew, like a packet that waited for a
 * buffer. */
static bool awaits_receivers(struct flow_exchange *exchange, struct flow_choice *one, uint64_t now)
{
    struct flow_path *path = &exchange->paths[one->path];

    if (one->direction != FLOW_BACK || path->group == 0) {
        return false;
    }
    if (flow_group_awaits(exchange, one->path, now)) {
        path->leg.held = true;
        return true;
    }
    if (path->leg.held) {
        path->leg.held = false;
        flow_path_release_anew(exchange, one->path, one->direction, now);
        *one = candidate(exchange, one->path, one->direction);
    }
    return false;
}

/* Whether the connection of the line's first packet has ended since the packet was sent. */
static bool is_orphan(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    const struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_packet *packet;

    if (choice->reset) {
        return false;
    }
    packet = &exchange->devices[flow_path_sender(path, choice->direction)]
                  ->packets[path->lines[choice->direction].first];
    return !flow_connections_has(&path->connections, &packet->connection,
                                 packet->header.operation == VSOCK_RESET);
}

static void consider(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                     uint64_t now, struct flow_choice *best, uint64_t *until)
{
    struct flow_choice one = candidate(exchange, number, direction);
    uint32_t receiver = flow_path_receiver(&exchange->paths[number], direction);

    if (one.key.release > now) {
        *until = packet_sooner(*until, one.key.release);
        return;
    }
    if (awaits_receivers(exchange, &one, now)) {
        return;
    }
    if (exchange->devices[receiver]->awaits_buffer && !flow_inflight_has(exchange, number, direction) &&
        !is_orphan(exchange, &one)) {
        uint64_t patient = wait_limit(exchange, &one, now);

        if (!one.hopeless) {
            exchange->passed[direction] |= 1ull << number;
            *until = packet_sooner(*until, patient);
            return;
        }
    }
    if (one.key.deadline < best->key.deadline) {
        *best = one;
    }
}

/* Chooses the transfer with the earliest deadline over all lines. */
static bool choose(struct flow_exchange *exchange, uint64_t now, struct flow_choice *best, uint64_t *until)
{
    struct path_mark mark = path_begin();

    best->key.deadline = PACKET_NEVER;
    *until = PACKET_NEVER;
    flow_group_expire(exchange, now, until);
    for (uint32_t direction = 0; direction < FLOW_DIRECTIONS; direction++) {
        for (uint64_t left = exchange->waiting[direction]; left != 0; left &= left - 1) {
            consider(exchange, (uint32_t)__builtin_ctzll(left), (enum flow_direction)direction, now, best,
                     until);
        }
    }
    if (mark.at != 0) {
        path_record(path_recorder_here(), &mark, BH_PATH_PART_FIND_EARLIEST, 0, exchange->device_count);
    }
    return best->key.deadline != PACKET_NEVER;
}

/* A packet was delivered at `now`. */
static void record(struct flow_exchange *exchange, const struct flow_choice *choice, uint32_t bytes,
                   uint64_t begun, uint64_t now)
{
    const struct packet_sample sample = {
        .release = choice->key.release,
        .begun = begun,
        .delivered = now,
        .flow = exchange->paths[choice->path].ways[choice->direction].number,
        .bytes = bytes,
    };

    sample_write(exchange->recorder, (const uint64_t *)(const void *)&sample);
}

/* `begun`: when the first transfer of the packet was chosen. */
static void count(struct flow_exchange *exchange, const struct flow_choice *choice,
                  const struct vsock_header *header, uint64_t begun, uint64_t now,
                  struct flow_effects *effects)
{
    const struct flow_way *way = &exchange->paths[choice->path].ways[choice->direction];
    struct flow_path_statistics *statistics =
        flow_path_count(exchange, choice->path, choice->direction, effects);
    uint64_t latency = now > choice->key.release ? now - choice->key.release : 0;

    if (exchange->recorder != NULL) {
        record(exchange, choice, header->bytes, begun, now);
    }
    statistics->misses += latency > way->deadline_ticks;
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
}

/* Completes the first packet of the line: it has been delivered, and its buffer returns to the sender. */
static void finish(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                   struct flow_effects *effects)
{
    struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, choice->direction)];
    const struct vsock_packet *packet = &sender->packets[path->lines[choice->direction].first];

    count(exchange, choice, &packet->header, packet->begun ? packet->begun_at : now, now, effects);
    if (packet->header.operation == VSOCK_RESET) {
        flow_connections_delivered(&path->connections, &packet->connection);
    }
    flow_path_finish_first(exchange, choice->path, choice->direction);
}

static bool deliver_reset(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                          struct flow_effects *effects)
{
    struct flow_path *path = &exchange->paths[choice->path];
    struct vsock_device *receiver = exchange->devices[flow_path_receiver(path, choice->direction)];
    uint32_t end = flow_path_end(path, receiver->index);
    struct vsock_header reset;

    if (flow_connections_owed(&path->connections, end, &reset)) {
        if (!flow_path_deliver_header(exchange, choice->path, choice->direction, &reset, now)) {
            return false;
        }
        flow_connections_paid(&path->connections, end, &reset);
        count(exchange, choice, &reset, now, now, effects);
    } else {
        path->connections.owed &= ~end;
    }
    path->resets[choice->direction] = false; /* a further reset takes its own place in the pace */
    flow_path_settle(exchange, choice->path, now);
    return true;
}

/* A packet without payload needs no transfer. */
static bool deliver_control(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                            struct flow_effects *effects)
{
    struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, choice->direction)];
    uint16_t place = path->lines[choice->direction].first;

    if (!flow_path_deliver_header(exchange, choice->path, choice->direction, &sender->packets[place].header,
                                  now)) {
        return false;
    }
    finish(exchange, choice, now, effects);
    return true;
}

static uint64_t ticks_at_rate(const struct flow_exchange *exchange, uint32_t bytes)
{
    return (bytes * exchange->ticks_per_mebibyte + (1ull << MEBIBYTE_SHIFT) - 1) >> MEBIBYTE_SHIFT;
}

/* The receiver provides no buffer for the packet: its end of the flow is at fault. */
static void give_up(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                    struct flow_effects *effects)
{
    uint32_t at_fault = choice->direction == FLOW_THERE ? FLOW_END_DESTINATION : FLOW_END_SOURCE;

    flow_path_give_up(exchange, choice->path, choice->direction, at_fault, now, effects);
}

/* The receiver's buffers are so small that the packet would need more transfers than were admitted: its end
 * of the flow is at fault. */
static void refuse_buffers(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                           struct flow_effects *effects)
{
    flow_path_count(exchange, choice->path, choice->direction, effects)->refused++;
    give_up(exchange, choice, now, effects);
}

static enum flow_next begin_transfer(struct flow_exchange *exchange, const struct flow_choice *choice,
                                     uint64_t now, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;

    if (!flow_inflight_has(exchange, choice->path, choice->direction)) {
        switch (flow_inflight_take(exchange, choice->path, choice->direction, now)) {
        case FLOW_TAKEN:
            exchange->paths[choice->path].starved_deadline[choice->direction] = 0;
            break;
        case FLOW_SHORT_BUFFER:
            refuse_buffers(exchange, choice, now, effects);
            return FLOW_NEXT_AGAIN;
        default:
            return FLOW_NEXT_NOTHING;
        }
    }
    if (!flow_inflight_transfer(exchange)) {
        return FLOW_NEXT_NOTHING;
    }
    inflight->transfers = true;
    inflight->gone = false;
    inflight->key = choice->key;
    inflight->not_before = now + ticks_at_rate(exchange, inflight->transfer.bytes);
    return FLOW_NEXT_TRANSFER;
}

static bool has_payload(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    const struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, choice->direction)];

    return sender->packets[path->lines[choice->direction].first].header.bytes != 0;
}

/* Drops an orphaned packet. Only packets with payload count as lost: credit for a connection that has ended
 * has no use. */
static void drop(struct flow_exchange *exchange, const struct flow_choice *choice,
                 struct flow_effects *effects)
{
    struct flow_path_statistics *statistics =
        flow_path_count(exchange, choice->path, choice->direction, effects);

    if (flow_inflight_has(exchange, choice->path, choice->direction)) {
        flow_inflight_forget(exchange, choice->path, choice->direction); /* counts the loss */
    } else {
        statistics->lost += has_payload(exchange, choice);
    }
    flow_path_finish_first(exchange, choice->path, choice->direction);
}

/* Begins the chosen transfer, or delivers a packet without payload. FLOW_NEXT_NOTHING: the receiver has no
 * buffer, or one of the devices has failed. */
static enum flow_next serve(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                            struct flow_effects *effects)
{
    bool served;

    if (!choice->reset && has_payload(exchange, choice)) {
        return begin_transfer(exchange, choice, now, effects);
    }
    path_close(BH_PATH_PART_PROGRAM_DMA, 0);
    path_open(BH_PATH_PART_FINALIZE);
    served = choice->reset ? deliver_reset(exchange, choice, now, effects)
                           : deliver_control(exchange, choice, now, effects);
    return served ? FLOW_NEXT_AGAIN : FLOW_NEXT_NOTHING;
}

/* Records the time of the engine's latest transfer, if this choice was already waiting when that transfer
 * began. */
static void record_engine_time(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    if (choice->key.release <= path_opened_at(BH_PATH_PART_ENGINE)) {
        path_close(BH_PATH_PART_ENGINE, ticks_at_rate(exchange, exchange->inflight.transfer.bytes));
    }
    path_drop(BH_PATH_PART_ENGINE);
    path_open(BH_PATH_PART_PROGRAM_DMA);
}

/* When the next of those devices gets a turn that have packets to send but have used up their turns. */
static uint64_t next_turn(const struct flow_exchange *exchange)
{
    uint64_t soonest = PACKET_NEVER;

    for (uint32_t left = exchange->sends; left != 0; left &= left - 1) {
        const struct vsock_device *device = exchange->devices[__builtin_ctz(left)];

        if (device->turns_left < device->needs && device->turns.share.packets != 0) {
            uint64_t needed_ns = device->needs * device->turns.share.period_ns;
            uint64_t at = device->turns.look_ns + needed_ns - device->turns.left_ns;

            soonest = packet_sooner(soonest, flow_exchange_ticks(exchange, at));
        }
    }
    return soonest;
}

/* A round that does not return has found a receiver without a buffer; choose() skips this receiver in later
 * rounds. */
static enum flow_next next_of(struct flow_exchange *exchange, uint64_t now, uint64_t *until,
                              struct flow_effects *effects)
{
    struct flow_choice choice = {0};

    if (now < exchange->inflight.not_before) {
        *until = exchange->inflight.not_before;
        return FLOW_NEXT_NOTHING;
    }
    for (uint32_t rounds = 0; rounds <= FLOW_EXCHANGE_DEVICES && choose(exchange, now, &choice, until);
         rounds++) {
        enum flow_next answer;

        record_engine_time(exchange, &choice);
        if (is_orphan(exchange, &choice)) {
            drop(exchange, &choice, effects);
            return FLOW_NEXT_AGAIN;
        }
        if (choice.hopeless) {
            give_up(exchange, &choice, now, effects);
            return FLOW_NEXT_AGAIN;
        }
        answer = serve(exchange, &choice, now, effects);
        if (answer != FLOW_NEXT_NOTHING) {
            return answer;
        }
        flow_exchange_settle(exchange, now, effects); /* drops the packets of a device that has failed */
    }
    return FLOW_NEXT_NOTHING;
}

enum flow_next flow_exchange_next(struct flow_exchange *exchange, uint64_t now, uint64_t *until,
                                  struct flow_effects *effects)
{
    enum flow_next answer = next_of(exchange, now, until, effects);

    if (answer == FLOW_NEXT_NOTHING) {
        *until = packet_sooner(*until, next_turn(exchange));
    }
    flow_exchange_settle(exchange, now, effects);
    return answer;
}

/* The transfer is over. Returns whether its packet is still wanted. */
static bool end_transfer(struct flow_exchange *exchange)
{
    struct flow_inflight *inflight = &exchange->inflight;

    inflight->transfers = false;
    if (inflight->gone) {
        flow_inflight_discard(exchange);
        return false;
    }
    return true;
}

/* The packet needs more transfers than were admitted, because its sender's descriptors or its receiver's
 * buffers are fragmented. It would delay other flows, so its connection ends. */
static void stop_pieces(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;

    flow_inflight_discard(exchange);
    flow_path_count(exchange, inflight->path, inflight->direction, effects)->refused++;
    flow_path_give_up(exchange, inflight->path, inflight->direction, FLOW_END_SOURCE | FLOW_END_DESTINATION,
                      now, effects);
}

void flow_exchange_done(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;

    if (inflight->transfers && end_transfer(exchange)) {
        flow_inflight_count_transfer(exchange);
        if (flow_inflight_complete(exchange)) {
            const struct flow_choice served = {
                .key = inflight->key, .path = inflight->path, .direction = inflight->direction};

            finish(exchange, &served, now, effects);
        } else if (flow_inflight_is_in_pieces(exchange)) {
            stop_pieces(exchange, now, effects);
        }
    }
    flow_exchange_settle(exchange, now, effects);
}

void flow_exchange_put_off(struct flow_exchange *exchange, uint64_t until)
{
    exchange->inflight.transfers = false;
    exchange->inflight.not_before = until;
}

void flow_exchange_fail(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects)
{
    struct flow_inflight *inflight = &exchange->inflight;

    if (inflight->transfers && end_transfer(exchange)) {
        flow_inflight_discard(exchange);
        flow_path_give_up(exchange, inflight->path, inflight->direction,
                          FLOW_END_SOURCE | FLOW_END_DESTINATION, now, effects);
    }
    flow_exchange_settle(exchange, now, effects);
}
