/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Groups of multicast flows: the sender's connection, and the credit that it is told.
 */
#include "core/flow_group.h"

#include "core/flow_paths.h"
#include <stddef.h>

/* The most room that a receiver counts as having. So the sender's limit and the bytes at which a receiver
 * begins are less than 2^31 ahead of the bytes sent, and can be compared modulo 2^32. */
#define MOST_CREDIT_BYTES (1u << 30)

static struct flow_group *group_of_leg(struct flow_exchange *exchange, uint32_t number)
{
    return &exchange->groups[exchange->paths[number].group - 1];
}

static uint64_t leg_set(uint32_t number)
{
    return 1ull << number;
}

void flow_group_add(struct flow_exchange *exchange, uint32_t number)
{
    struct flow_group *group = group_of_leg(exchange, number);

    group->legs |= leg_set(number);
    group->leg_count++;
}

void flow_group_remove(struct flow_exchange *exchange, uint32_t number)
{
    struct flow_group *group = group_of_leg(exchange, number);

    group->legs &= ~leg_set(number);
    group->leg_count--;
}

struct flow_group *flow_group_of(struct flow_exchange *exchange, const struct vsock_device *sender,
                                 const struct vsock_header *header)
{
    uint64_t group = header->destination_cid - FLOW_FIRST_GROUP_CID;
    const struct flow_path *leg;

    if (group >= FLOW_EXCHANGE_GROUPS || exchange->groups[group].legs == 0) {
        return NULL;
    }
    leg = &exchange->paths[__builtin_ctzll(exchange->groups[group].legs)];
    return leg->source == sender->index && leg->connections.port == header->destination_port
               ? &exchange->groups[group]
               : NULL;
}

static enum flow_connection_state state_of(const struct flow_exchange *exchange,
                                           const struct flow_group *group, uint32_t number)
{
    return flow_connections_state(&exchange->paths[number].connections, group->client_port);
}

/* The members of the group's connection that are in this state. */
static uint64_t members_in(const struct flow_exchange *exchange, const struct flow_group *group,
                           enum flow_connection_state state)
{
    uint64_t found = 0;

    for (uint64_t left = group->members; left != 0; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);

        found |= state_of(exchange, group, number) == state ? leg_set(number) : 0;
    }
    return found;
}

static void end(struct flow_group *group)
{
    group->members = 0;
    group->open = false;
}

/* Ends the connections of legs. Their receivers get a reset, and so does the sender unless it is `lost`
 * (FLOW_END_SOURCE). */
static void end_legs(struct flow_exchange *exchange, uint64_t legs, uint32_t lost, uint64_t now)
{
    for (uint64_t left = legs; left != 0; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);

        (void)flow_connections_lose(&exchange->paths[number].connections, lost);
        flow_path_settle(exchange, number, now);
    }
}

/* Begins a connection. Its receivers may answer as long as a packet may wait for a buffer. The first one that
 * accepts shortens this time to the flow's deadline (flow_group_hear()). */
static void request(struct flow_exchange *exchange, struct flow_group *group,
                    const struct vsock_header *header, uint64_t now)
{
    const struct flow_path *path = &exchange->paths[__builtin_ctzll(group->legs)];

    end_legs(exchange,
             members_in(exchange, group, FLOW_CONNECTION_OPEN) |
                 members_in(exchange, group, FLOW_CONNECTION_REQUESTED),
             FLOW_END_SOURCE, now);
    *group = (struct flow_group){
        .legs = group->legs,
        .leg_count = group->leg_count,
        .client_port = header->source_port,
        .answer_by = now + path->ways[FLOW_THERE].deadline_ticks + exchange->patience_ticks,
    };
    exchange->connecting |= 1u << (group - exchange->groups);
}

bool flow_group_takes(struct flow_exchange *exchange, struct flow_group *group,
                      const struct vsock_header *header, uint64_t now)
{
    if (header->operation == VSOCK_REQUEST) {
        if (group->open || header->type != VSOCK_TYPE_STREAM) {
            return false;
        }
        request(exchange, group, header, now);
        return true;
    }
    if (group->members == 0 || header->source_port != group->client_port) {
        return false;
    }
    if (header->operation == VSOCK_RESET) {
        end(group);
    }
    group->asked |= header->operation == VSOCK_CREDIT_REQUEST;
    return group->open || header->operation != VSOCK_PAYLOAD;
}

/* Turns payload into an invitation. Returns false if the receiver does not run, or still has to be told of
 * the end of an earlier connection. */
static bool invite(const struct flow_exchange *exchange, const struct flow_path *path,
                   struct vsock_header *header)
{
    header->operation = VSOCK_REQUEST;
    header->type = VSOCK_TYPE_STREAM;
    header->bytes = 0;
    header->flags = 0;
    return path->connections.count == 0 && flow_device_runs(exchange, path->destination);
}

/* Whether `a` is behind `b`: both are counts of bytes modulo 2^32. */
static bool is_behind(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

bool flow_group_copy(struct flow_exchange *exchange, uint32_t number, struct vsock_header *header)
{
    const struct flow_group *group = group_of_leg(exchange, number);
    const struct flow_path *path = &exchange->paths[number];
    enum flow_connection_state state = state_of(exchange, group, number);

    header->destination_cid = path->connections.destination_cid;
    switch (header->operation) {
    case VSOCK_REQUEST:
        return invite(exchange, path, header);
    case VSOCK_RESET:
    case VSOCK_SHUTDOWN:
        return state == FLOW_CONNECTION_OPEN || state == FLOW_CONNECTION_REQUESTED;
    case VSOCK_PAYLOAD:
        return state == FLOW_CONNECTION_OPEN ? path->leg.begun || !is_behind(group->sent, path->leg.base)
                                             : invite(exchange, path, header);
    default:
        return state == FLOW_CONNECTION_OPEN;
    }
}

void flow_group_copied(struct flow_exchange *exchange, uint32_t number, const struct vsock_header *header)
{
    struct flow_group *group = group_of_leg(exchange, number);
    struct flow_leg *leg = &exchange->paths[number].leg;

    if (header->operation == VSOCK_REQUEST) {
        group->members |= leg_set(number);
        *leg = (struct flow_leg){0};
    } else if (header->operation == VSOCK_PAYLOAD && !leg->begun) {
        leg->begun = true;
        leg->base = group->sent;
    }
}

void flow_group_sent(struct flow_group *group, const struct vsock_header *header)
{
    group->sent += header->operation == VSOCK_PAYLOAD ? header->bytes : 0;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The receiver begins with the next packet, or later if its buffer is smaller than what the sender may send
 * already: the sender's credit does not go back. */
static uint32_t base_of(const struct flow_group *group, uint32_t buffer_bytes)
{
    uint32_t earliest = group->limit - buffer_bytes;

    return group->open && is_behind(group->sent, earliest) ? earliest : group->sent;
}

void flow_group_hear(struct flow_exchange *exchange, uint32_t number, const struct vsock_header *header,
                     uint64_t now)
{
    struct flow_group *group = group_of_leg(exchange, number);
    struct flow_path *path = &exchange->paths[number];
    struct flow_leg *leg = &path->leg;

    leg->buffer_bytes = smaller(header->buffer_bytes, MOST_CREDIT_BYTES);
    leg->taken_bytes = header->taken_bytes;
    if (header->operation == VSOCK_RESPONSE) {
        leg->base = base_of(group, leg->buffer_bytes);
        group->answer_by = packet_sooner(group->answer_by, now + path->ways[FLOW_THERE].deadline_ticks);
    }
}

/* A receiver's credit in the sender's count of bytes. A receiver cannot have taken more than was sent to it,
 * whatever it says. */
static void credit_of(const struct flow_group *group, const struct flow_leg *leg, struct vsock_header *told)
{
    uint32_t taken = leg->base + leg->taken_bytes;
    uint32_t ahead = is_behind(group->sent, taken) ? taken - group->sent : 0;

    told->taken_bytes = taken - ahead;
    told->buffer_bytes = smaller(leg->buffer_bytes + (leg->begun ? 0 : ahead), MOST_CREDIT_BYTES);
}

/* What the sender may still send; less than 0 if it has sent too much. */
static int64_t room_of(const struct flow_group *group, const struct vsock_header *credit)
{
    return (int64_t)credit->buffer_bytes - (group->sent - credit->taken_bytes);
}

uint64_t flow_group_unread(struct flow_exchange *exchange, uint32_t number)
{
    const struct flow_group *group = group_of_leg(exchange, number);
    struct vsock_header credit = {0};

    if (state_of(exchange, group, number) != FLOW_CONNECTION_OPEN) {
        return 0;
    }
    credit_of(group, &exchange->paths[number].leg, &credit);
    return 1 + (uint64_t)(uint32_t)(group->sent - credit.taken_bytes);
}

/* The credit of the receiver that has the least, but no less than the sender was told already, although a
 * receiver may make its buffer smaller. Returns false if no receiver has a connection. */
static bool least_credit(const struct flow_exchange *exchange, const struct flow_group *group,
                         struct vsock_header *told)
{
    uint64_t accepted = members_in(exchange, group, FLOW_CONNECTION_OPEN);

    for (uint64_t left = accepted; left != 0; left &= left - 1) {
        struct vsock_header one = *told;

        credit_of(group, &exchange->paths[__builtin_ctzll(left)].leg, &one);
        if (left == accepted || room_of(group, &one) < room_of(group, told)) {
            *told = one;
        }
    }
    if (group->open && room_of(group, told) < (int32_t)(group->limit - group->sent)) {
        told->buffer_bytes = group->limit - told->taken_bytes;
    }
    return accepted != 0;
}

bool flow_group_awaits(const struct flow_exchange *exchange, uint32_t number, uint64_t now)
{
    const struct flow_group *group = &exchange->groups[exchange->paths[number].group - 1];

    return !group->open && now <= group->answer_by && (group->members & leg_set(number)) != 0 &&
           members_in(exchange, group, FLOW_CONNECTION_REQUESTED) != 0;
}

void flow_group_expire(struct flow_exchange *exchange, uint64_t now, uint64_t *until)
{
    for (uint32_t left = exchange->connecting; left != 0; left &= left - 1) {
        const struct flow_group *group = &exchange->groups[__builtin_ctz(left)];

        if (group->open || group->members == 0) {
            exchange->connecting &= ~(left & -left);
        } else if (now <= group->answer_by) {
            *until = packet_sooner(*until, group->answer_by + 1);
        } else if (members_in(exchange, group, FLOW_CONNECTION_OPEN) == 0) {
            end_legs(exchange, members_in(exchange, group, FLOW_CONNECTION_REQUESTED), 0, now);
        }
    }
}

/* The packet by which the sender hears what the leg's packet means. Returns false if it means nothing to the
 * sender. */
static bool translate(const struct flow_exchange *exchange, const struct flow_group *group, bool ends,
                      struct vsock_header *header)
{
    if (ends) {
        return true;
    }
    if (!group->open && header->operation != VSOCK_RESPONSE) {
        return false;
    }
    if (group->open && header->operation != VSOCK_CREDIT_REQUEST) {
        header->operation = VSOCK_CREDIT_UPDATE;
    }
    return least_credit(exchange, group, header) &&
           (header->operation != VSOCK_CREDIT_UPDATE || group->asked ||
            header->taken_bytes + header->buffer_bytes != group->limit);
}

/* Whether the group's connection ends with this leg: no other receiver has accepted or, before the sender was
 * told of the first one, may still accept. */
static bool is_last(const struct flow_exchange *exchange, const struct flow_group *group, uint32_t number)
{
    uint64_t others = members_in(exchange, group, FLOW_CONNECTION_OPEN);

    if (!group->open) {
        others |= members_in(exchange, group, FLOW_CONNECTION_REQUESTED);
    }
    return (others & ~leg_set(number)) == 0;
}

/* A leg that is no member, or a packet to another port, belongs to an earlier connection, which the sender
 * has ended: the packet changes nothing. */
bool flow_group_tell(struct flow_exchange *exchange, uint32_t number, const struct vsock_header *header,
                     uint64_t now)
{
    struct flow_group *group = group_of_leg(exchange, number);
    const struct flow_path *path = &exchange->paths[number];
    bool leaves = header->operation == VSOCK_RESET;
    bool ends = leaves && is_last(exchange, group, number);
    struct vsock_header told = *header;

    if ((group->members & leg_set(number)) == 0 || header->destination_port != group->client_port) {
        return true;
    }
    told.source_cid = FLOW_FIRST_GROUP_CID + path->group - 1;
    if (translate(exchange, group, ends, &told)) {
        if (!vsock_device_deliver_header(exchange->devices[path->source], &told)) {
            return false;
        }
        group->open = true;
        group->asked = false;
        group->limit = told.taken_bytes + told.buffer_bytes;
    }
    if (ends) {
        end_legs(exchange, members_in(exchange, group, FLOW_CONNECTION_REQUESTED), FLOW_END_SOURCE, now);
        end(group);
    } else if (leaves) {
        group->members &= ~leg_set(number);
    }
    return true;
}

void flow_group_forget(struct flow_exchange *exchange, uint32_t number)
{
    end(group_of_leg(exchange, number));
}
