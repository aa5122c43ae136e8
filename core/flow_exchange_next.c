/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Chooses transfers, earliest deadline first, one at a time.
 */
#include "core/flow_inflight.h"
#include "core/flow_paths.h"

#include "core/path_costs.h"
#include <stddef.h>

#define MEBIBYTE_SHIFT 20u
#define QUARTERS       4u

/* What may go now. */
struct flow_choice {
    struct packet_key key;
    uint32_t path;
    enum flow_direction direction;
    bool reset;    /* a reset that the receiver is owed; else the first packet of the line */
    bool hopeless; /* its receiver has no buffer, and others shall not wait for that */
};

static struct packet_key first_key(const struct flow_exchange *exchange, const struct flow_path *path,
                                   enum flow_direction direction)
{
    const struct packet_line *line = &path->lines[direction];

    return packet_line_key(line, exchange->devices[flow_path_sender(path, direction)]->links, line->first);
}

/* The most urgent of a line that waits. */
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

/* Whether a line that waits for buffers keeps its sender's other flows from sending: the driver has less than
 * a quarter of its descriptors left, and the line holds more than its share of the others. */
static bool holds_too_much(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    const struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, choice->direction)];
    uint32_t entries = sender->virtio.queues[VSOCK_QUEUE_TX].entries;

    return sender->held_descriptors * QUARTERS > entries * (QUARTERS - 1) &&
           path->descriptors[choice->direction] * sender->line_count > sender->held_descriptors;
}

/* What waits for a buffer of its receiver: until when, and whether that is over. */
static uint64_t patient_until(const struct flow_exchange *exchange, struct flow_choice *choice, uint64_t now)
{
    uint64_t until = choice->key.deadline + exchange->patience_ticks;

    if (choice->reset) {
        return PACKET_NEVER;
    }
    if (holds_too_much(exchange, choice)) {
        until = choice->key.deadline;
    }
    choice->hopeless = now > until;
    return until + 1;
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
    if (exchange->devices[receiver]->awaits_buffer && !flow_inflight_has(exchange, number, direction)) {
        uint64_t patient = patient_until(exchange, &one, now);

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

/* The earliest deadline over all lines. */
static bool choose(struct flow_exchange *exchange, uint64_t now, struct flow_choice *best, uint64_t *until)
{
    struct path_mark mark = path_begin();

    best->key.deadline = PACKET_NEVER;
    *until = PACKET_NEVER;
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
    statistics->misses += latency > way->deadline_ticks;
}

/* The first packet of the line is delivered: its sender may use the buffer again. */
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
        if (!vsock_device_deliver_header(receiver, &reset)) {
            return false;
        }
        flow_connections_paid(&path->connections, end, &reset);
        count(exchange, choice, &reset, now, now, effects);
    } else {
        path->connections.owed &= ~end;
    }
    path->resets[choice->direction] = false; /* another one is another packet of the pace */
    flow_path_settle(exchange, choice->path, now);
    return true;
}

/* A packet without payload needs no transfer. */
static bool deliver_control(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                            struct flow_effects *effects)
{
    struct flow_path *path = &exchange->paths[choice->path];
    const struct vsock_device *sender = exchange->devices[flow_path_sender(path, choice->direction)];
    struct vsock_device *receiver = exchange->devices[flow_path_receiver(path, choice->direction)];
    uint16_t place = path->lines[choice->direction].first;

    if (!vsock_device_deliver_header(receiver, &sender->packets[place].header)) {
        return false;
    }
    finish(exchange, choice, now, effects);
    return true;
}

static uint64_t ticks_at_rate(const struct flow_exchange *exchange, uint32_t bytes)
{
    return (bytes * exchange->ticks_per_mebibyte + (1ull << MEBIBYTE_SHIFT) - 1) >> MEBIBYTE_SHIFT;
}

/* The receiver does not take the packet: its end of the flow is at fault. */
static void give_up(struct flow_exchange *exchange, const struct flow_choice *choice, uint64_t now,
                    struct flow_effects *effects)
{
    uint32_t at_fault = choice->direction == FLOW_THERE ? FLOW_END_DESTINATION : FLOW_END_SOURCE;

    flow_path_give_up(exchange, choice->path, choice->direction, at_fault, now, effects);
}

/* The receiver's buffers would take more transfers than were admitted: its end of the flow is at fault. */
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
    flow_inflight_count_transfer(exchange);
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

/* The first packet of the line is of a connection that has ended meanwhile. */
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

/* Credit that was told before its connection ended is of no use to anybody, and no loss. */
static void drop(struct flow_exchange *exchange, const struct flow_choice *choice,
                 struct flow_effects *effects)
{
    struct flow_path_statistics *statistics =
        flow_path_count(exchange, choice->path, choice->direction, effects);

    if (flow_inflight_has(exchange, choice->path, choice->direction)) {
        flow_inflight_forget(exchange, choice->path, choice->direction); /* counts it */
    } else {
        statistics->lost += has_payload(exchange, choice);
    }
    flow_path_finish_first(exchange, choice->path, choice->direction);
}

/* What becomes of a choice. FLOW_NEXT_NOTHING: its receiver has no buffer, or an end has failed. */
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

/* What the engine took for its latest transfer, if this choice has waited since then. */
static void stamp_turn(const struct flow_exchange *exchange, const struct flow_choice *choice)
{
    if (choice->key.release <= path_opened_at(BH_PATH_PART_ENGINE)) {
        path_close(BH_PATH_PART_ENGINE, ticks_at_rate(exchange, exchange->inflight.transfer.bytes));
    }
    path_drop(BH_PATH_PART_ENGINE);
    path_open(BH_PATH_PART_PROGRAM_DMA);
}

/* When a device that has something to look at, but no turn, gets one. */
static uint64_t next_turn(const struct flow_exchange *exchange)
{
    uint64_t soonest = PACKET_NEVER;

    for (uint32_t left = exchange->sends; left != 0; left &= left - 1) {
        const struct vsock_device *device = exchange->devices[__builtin_ctz(left)];

        if (device->turns_left == 0 && device->turns.share.packets != 0) {
            uint64_t at = device->turns.look_ns + device->turns.share.period_ns - device->turns.left_ns;

            soonest = packet_sooner(soonest, flow_exchange_ticks(exchange, at));
        }
    }
    return soonest;
}

/* Each round but the last finds a receiver without a buffer, which the next one passes. */
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

        stamp_turn(exchange, &choice);
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
        flow_exchange_settle(exchange, now, effects); /* one that has failed has nothing any more */
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

/* The transfer is over. True: its packet is still wanted. */
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

/* A packet in more pieces than were admitted, by its sender's descriptors or its receiver's buffers, takes
 * time from others: its connection ends. */
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
