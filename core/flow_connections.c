/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Connections of a flow. States are kept as sets of entries, so that a question about all connections is
 * answered by a few word operations.
 */
#include "core/flow_connections.h"

#include <stddef.h>
#include <string.h>

#define WORD_BITS 64u

static bool has(const struct flow_connection_set *set, uint32_t entry)
{
    return (set->words[entry / WORD_BITS] >> entry % WORD_BITS & 1) != 0;
}

static void put(struct flow_connection_set *set, uint32_t entry, bool in)
{
    uint64_t bit = 1ull << entry % WORD_BITS;

    set->words[entry / WORD_BITS] = (set->words[entry / WORD_BITS] & ~bit) | (in ? bit : 0);
}

/* First entry of the set; FLOW_CONNECTIONS_MOST if the set is empty. */
static uint32_t first_of(const struct flow_connection_set *set)
{
    for (uint32_t i = 0; i < FLOW_CONNECTIONS_WORDS; i++) {
        if (set->words[i] != 0) {
            return i * WORD_BITS + (uint32_t)__builtin_ctzll(set->words[i]);
        }
    }
    return FLOW_CONNECTIONS_MOST;
}

void flow_connections_init(struct flow_connections *connections, uint64_t source_cid,
                           uint64_t destination_cid, uint32_t port, uint32_t most)
{
    memset(connections, 0, sizeof(*connections));
    connections->source_cid = source_cid;
    connections->destination_cid = destination_cid;
    connections->port = port;
    connections->most = most < FLOW_CONNECTIONS_MOST ? most : FLOW_CONNECTIONS_MOST;
    for (uint32_t i = 0; i < FLOW_CONNECTIONS_MOST; i++) {
        connections->by_port[i] = (uint8_t)i;
    }
}

static uint32_t client_port_of(const struct vsock_header *header, bool reverse)
{
    return reverse ? header->destination_port : header->source_port;
}

/* Position in by_port[] of the first entry whose port is not smaller than `client_port`; `count` if there is
 * none. */
static uint32_t place_of(const struct flow_connections *connections, uint32_t client_port)
{
    uint32_t first = 0;
    uint32_t behind = connections->count;

    while (first < behind) {
        uint32_t middle = (first + behind) / 2;

        if (connections->entries[connections->by_port[middle]].client_port < client_port) {
            first = middle + 1;
        } else {
            behind = middle;
        }
    }
    return first;
}

/* The entry that has the port, also if its connection has ended; FLOW_CONNECTIONS_MOST if there is none. */
static uint32_t find(const struct flow_connections *connections, uint32_t client_port)
{
    uint32_t place = place_of(connections, client_port);
    uint32_t entry;

    if (place == connections->count) {
        return FLOW_CONNECTIONS_MOST;
    }
    entry = connections->by_port[place];
    return connections->entries[entry].client_port == client_port ? entry : FLOW_CONNECTIONS_MOST;
}

static bool is_alive(const struct flow_connections *connections, uint32_t entry)
{
    return has(&connections->in_state[FLOW_CONNECTION_REQUESTED], entry) ||
           has(&connections->in_state[FLOW_CONNECTION_OPEN], entry);
}

static void to_state(struct flow_connections *connections, uint32_t entry, uint32_t state)
{
    for (uint32_t i = 0; i < FLOW_CONNECTION_STATES; i++) {
        put(&connections->in_state[i], entry, i == state);
    }
}

/* Whether the entry still belongs to this connection: an entry can be used again for a later one. */
static bool is_of(const struct flow_connections *connections, const struct flow_connection *of)
{
    return connections->entries[of->entry].life == of->life;
}

static void name_of(const struct flow_connections *connections, uint32_t entry, struct flow_connection *of)
{
    of->entry = entry;
    of->life = connections->entries[entry].life;
}

static enum flow_decision request(struct flow_connections *connections, const struct vsock_header *header,
                                  struct flow_connection *of)
{
    uint32_t place = place_of(connections, header->source_port);
    uint32_t entry = connections->by_port[connections->count];

    memmove(&connections->by_port[place + 1], &connections->by_port[place], connections->count - place);
    connections->by_port[place] = (uint8_t)entry;
    connections->count++;
    connections->entries[entry].client_port = header->source_port;
    connections->entries[entry].life = ++connections->begun;
    put(&connections->of_packets, entry, header->type == VSOCK_TYPE_SEQPACKET);
    to_state(connections, entry, FLOW_CONNECTION_REQUESTED);
    name_of(connections, entry, of);
    return FLOW_FORWARD;
}

/* Frees the entry: nothing has to be sent for its connection any more. */
static void release(struct flow_connections *connections, uint32_t entry)
{
    uint32_t place = place_of(connections, connections->entries[entry].client_port);

    connections->count--;
    memmove(&connections->by_port[place], &connections->by_port[place + 1], connections->count - place);
    connections->by_port[connections->count] = (uint8_t)entry;
}

static bool is_owed_to(const struct flow_connections *connections, uint32_t entry)
{
    return has(&connections->owed_to[0], entry) || has(&connections->owed_to[1], entry);
}

/* Ends a connection. `owed` has the ends (FLOW_END_...) that have to be sent a reset. */
static void end(struct flow_connections *connections, uint32_t entry, uint32_t owed)
{
    to_state(connections, entry, FLOW_CONNECTION_STATES);
    for (uint32_t i = 0; i < FLOW_ENDS; i++) {
        put(&connections->owed_to[i], entry, (owed >> i & 1) != 0);
    }
    connections->owed |= owed;
    if (owed == 0) {
        release(connections, entry);
    }
}

/* Whether a connection accepts this packet in its present state. */
static bool may_carry(const struct flow_connections *connections, uint32_t entry,
                      const struct vsock_header *header, bool reverse, uint32_t most_bytes)
{
    bool is_open = has(&connections->in_state[FLOW_CONNECTION_OPEN], entry);

    if (header->type != (has(&connections->of_packets, entry) ? VSOCK_TYPE_SEQPACKET : VSOCK_TYPE_STREAM)) {
        return false;
    }
    switch (header->operation) {
    case VSOCK_RESPONSE:
        return reverse && !is_open;
    case VSOCK_PAYLOAD:
        return is_open && header->bytes <= most_bytes;
    case VSOCK_SHUTDOWN:
        return true;
    case VSOCK_CREDIT_UPDATE:
    case VSOCK_CREDIT_REQUEST:
        return is_open;
    default:
        return false;
    }
}

enum flow_decision flow_connections_take(struct flow_connections *connections,
                                         const struct vsock_header *header, bool reverse, uint32_t most_bytes,
                                         struct flow_connection *of)
{
    uint32_t entry = find(connections, client_port_of(header, reverse));

    if (header->operation == VSOCK_REQUEST && !reverse && entry == FLOW_CONNECTIONS_MOST &&
        connections->count < connections->most) {
        return request(connections, header, of);
    }
    if (entry == FLOW_CONNECTIONS_MOST || !is_alive(connections, entry) ||
        (header->operation == VSOCK_REQUEST && !reverse)) {
        return header->operation == VSOCK_RESET ? FLOW_DROP : FLOW_ANSWER_RESET;
    }
    name_of(connections, entry, of);
    if (header->operation == VSOCK_RESET) {
        to_state(connections, entry, FLOW_CONNECTION_ENDING);
        return FLOW_FORWARD;
    }
    if (!may_carry(connections, entry, header, reverse, most_bytes)) {
        end(connections, entry, FLOW_END_SOURCE | FLOW_END_DESTINATION);
        return FLOW_ABORT;
    }
    if (header->operation == VSOCK_RESPONSE) {
        to_state(connections, entry, FLOW_CONNECTION_OPEN);
    }
    return FLOW_FORWARD;
}

enum flow_connection_state flow_connections_state(const struct flow_connections *connections,
                                                  uint32_t client_port)
{
    uint32_t entry = find(connections, client_port);
    uint32_t state = FLOW_CONNECTION_REQUESTED;

    while (entry != FLOW_CONNECTIONS_MOST && state != FLOW_CONNECTION_STATES &&
           !has(&connections->in_state[state], entry)) {
        state++;
    }
    return entry == FLOW_CONNECTIONS_MOST ? FLOW_CONNECTION_STATES : (enum flow_connection_state)state;
}

bool flow_connections_has(const struct flow_connections *connections, const struct flow_connection *of,
                          bool resets)
{
    return is_of(connections, of) && (resets ? has(&connections->in_state[FLOW_CONNECTION_ENDING], of->entry)
                                             : is_alive(connections, of->entry));
}

static uint32_t ends_owed(const struct flow_connections *connections)
{
    uint32_t owed = 0;

    for (uint32_t i = 0; i < FLOW_ENDS; i++) {
        owed |= first_of(&connections->owed_to[i]) != FLOW_CONNECTIONS_MOST ? 1u << i : 0;
    }
    return owed;
}

/* Frees ended entries for which no end is owed a reset. */
static void release_unowed(struct flow_connections *connections)
{
    uint8_t freed[FLOW_CONNECTIONS_MOST] = {0};
    uint32_t freed_count = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < connections->count; i++) {
        uint8_t entry = connections->by_port[i];

        if (is_owed_to(connections, entry)) {
            connections->by_port[kept++] = entry;
        } else {
            freed[freed_count++] = entry;
        }
    }
    memcpy(&connections->by_port[kept], freed, freed_count);
    connections->count = kept;
}

uint32_t flow_connections_lose(struct flow_connections *connections, uint32_t lost)
{
    for (uint32_t i = 0; i < FLOW_CONNECTIONS_WORDS; i++) {
        uint64_t ended = 0;

        for (uint32_t state = 0; state < FLOW_CONNECTION_STATES; state++) {
            ended |= connections->in_state[state].words[i];
            connections->in_state[state].words[i] = 0;
        }
        for (uint32_t one = 0; one < FLOW_ENDS; one++) {
            uint64_t owed = connections->owed_to[one].words[i] | ended;

            connections->owed_to[one].words[i] = (lost >> one & 1) != 0 ? 0 : owed;
        }
    }
    release_unowed(connections);
    connections->owed = ends_owed(connections);
    return connections->owed;
}

static void end_ending(struct flow_connections *connections, const struct flow_connection *of, uint32_t owed)
{
    if (flow_connections_has(connections, of, true)) {
        end(connections, of->entry, owed);
    }
}

void flow_connections_delivered(struct flow_connections *connections, const struct flow_connection *of)
{
    end_ending(connections, of, 0);
}

void flow_connections_abort(struct flow_connections *connections, const struct flow_connection *of,
                            uint16_t operation, bool reverse)
{
    if (operation == VSOCK_RESET) {
        end_ending(connections, of, reverse ? FLOW_END_SOURCE : FLOW_END_DESTINATION);
    } else if (flow_connections_has(connections, of, false)) {
        end(connections, of->entry,
            FLOW_END_SOURCE | (operation == VSOCK_REQUEST ? 0 : FLOW_END_DESTINATION));
    }
}

static const struct flow_connection_set *set_of(const struct flow_connections *connections, uint32_t whom)
{
    return &connections->owed_to[whom == FLOW_END_SOURCE ? 0 : 1];
}

bool flow_connections_owed(const struct flow_connections *connections, uint32_t whom,
                           struct vsock_header *reset)
{
    uint32_t entry = first_of(set_of(connections, whom));

    if (entry == FLOW_CONNECTIONS_MOST) {
        return false;
    }
    struct vsock_header sent = {
        .source_cid = connections->source_cid,
        .destination_cid = connections->destination_cid,
        .source_port = connections->entries[entry].client_port,
        .destination_port = connections->port,
        .type = has(&connections->of_packets, entry) ? VSOCK_TYPE_SEQPACKET : VSOCK_TYPE_STREAM,
        .operation = VSOCK_RESET,
    };

    *reset = whom == FLOW_END_SOURCE ? vsock_reset_of(&sent) : sent;
    return true;
}

void flow_connections_paid(struct flow_connections *connections, uint32_t whom,
                           const struct vsock_header *reset)
{
    uint32_t entry =
        find(connections, whom == FLOW_END_SOURCE ? reset->destination_port : reset->source_port);

    if (entry != FLOW_CONNECTIONS_MOST && has(set_of(connections, whom), entry)) {
        put(&connections->owed_to[whom == FLOW_END_SOURCE ? 0 : 1], entry, false);
        if (!is_owed_to(connections, entry)) {
            release(connections, entry);
        }
    }
    connections->owed = ends_owed(connections);
}
