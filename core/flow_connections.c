/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Connections of a flow.
 */
#include "core/flow_connections.h"

#include <stddef.h>
#include <string.h>

void flow_connections_init(struct flow_connections *connections, uint64_t source_cid,
                           uint64_t destination_cid, uint32_t port)
{
    memset(connections, 0, sizeof(*connections));
    connections->source_cid = source_cid;
    connections->destination_cid = destination_cid;
    connections->port = port;
}

bool flow_connections_carry(const struct flow_connections *connections, const struct vsock_header *header,
                            bool *reverse)
{
    *reverse = header->source_cid != connections->source_cid ||
               header->destination_cid != connections->destination_cid ||
               header->destination_port != connections->port;
    return !*reverse ||
           (header->source_cid == connections->destination_cid &&
            header->destination_cid == connections->source_cid && header->source_port == connections->port);
}

static uint32_t client_port_of(const struct vsock_header *header, bool reverse)
{
    return reverse ? header->destination_port : header->source_port;
}

static bool is_alive(uint32_t state)
{
    return state == FLOW_CONNECTION_REQUESTED || state == FLOW_CONNECTION_OPEN;
}

/* FLOW_CONNECTIONS: there is none. */
static uint32_t find(const struct flow_connections *connections, uint32_t client_port)
{
    uint32_t i = 0;

    while (i < FLOW_CONNECTIONS &&
           (!is_alive(connections->entries[i].state) || connections->entries[i].client_port != client_port)) {
        i++;
    }
    return i;
}

static uint32_t find_free(const struct flow_connections *connections)
{
    uint32_t i = 0;

    while (i < FLOW_CONNECTIONS && (connections->entries[i].state != FLOW_CONNECTION_NONE ||
                                    connections->entries[i].reset_owed != 0)) {
        i++;
    }
    return i;
}

/* The server has still to hear that an earlier connection of the same port has ended, which would end a new
 * one. */
static bool is_port_owed(const struct flow_connections *connections, uint32_t client_port)
{
    for (uint32_t i = 0; i < FLOW_CONNECTIONS; i++) {
        if ((connections->entries[i].reset_owed & FLOW_END_DESTINATION) != 0 &&
            connections->entries[i].client_port == client_port) {
            return true;
        }
    }
    return false;
}

static enum flow_decision request(struct flow_connections *connections, uint32_t client_port, uint32_t known)
{
    uint32_t i = find_free(connections);

    if (known != FLOW_CONNECTIONS || i == FLOW_CONNECTIONS || is_port_owed(connections, client_port)) {
        return FLOW_ANSWER_RESET;
    }
    connections->entries[i].client_port = client_port;
    connections->entries[i].state = FLOW_CONNECTION_REQUESTED;
    return FLOW_FORWARD;
}

static void end(struct flow_connections *connections, uint32_t i, uint32_t owed)
{
    connections->entries[i].state = FLOW_CONNECTION_NONE;
    connections->entries[i].reset_owed = (uint8_t)owed;
    connections->owed |= owed;
}

/* What an existing connection may carry in its state. */
static bool may_carry(const struct vsock_header *header, bool reverse, uint32_t state, uint32_t most_bytes)
{
    switch (header->operation) {
    case VSOCK_RESPONSE:
        return reverse && state == FLOW_CONNECTION_REQUESTED;
    case VSOCK_PAYLOAD:
        return state == FLOW_CONNECTION_OPEN && header->bytes <= (reverse ? 0 : most_bytes);
    case VSOCK_SHUTDOWN:
        return true;
    case VSOCK_CREDIT_UPDATE:
    case VSOCK_CREDIT_REQUEST:
        return state == FLOW_CONNECTION_OPEN;
    default:
        return false;
    }
}

enum flow_decision flow_connections_take(struct flow_connections *connections,
                                         const struct vsock_header *header, bool reverse, uint32_t most_bytes)
{
    uint32_t client_port = client_port_of(header, reverse);
    uint32_t i = find(connections, client_port);

    if (header->operation == VSOCK_REQUEST && !reverse) {
        return request(connections, client_port, i);
    }
    if (i == FLOW_CONNECTIONS) {
        return header->operation == VSOCK_RESET ? FLOW_DROP : FLOW_ANSWER_RESET;
    }
    if (header->operation == VSOCK_RESET) {
        connections->entries[i].state = FLOW_CONNECTION_ENDING;
        return FLOW_FORWARD;
    }
    if (!may_carry(header, reverse, connections->entries[i].state, most_bytes)) {
        end(connections, i, FLOW_END_SOURCE | FLOW_END_DESTINATION);
        return FLOW_ABORT;
    }
    if (header->operation == VSOCK_RESPONSE) {
        connections->entries[i].state = FLOW_CONNECTION_OPEN;
    }
    return FLOW_FORWARD;
}

bool flow_connections_has(const struct flow_connections *connections, const struct vsock_header *header,
                          bool reverse)
{
    uint32_t client_port = client_port_of(header, reverse);

    for (uint32_t i = 0; i < FLOW_CONNECTIONS; i++) {
        bool is_of_it = header->operation == VSOCK_RESET
                            ? connections->entries[i].state == FLOW_CONNECTION_ENDING
                            : is_alive(connections->entries[i].state);

        if (is_of_it && connections->entries[i].client_port == client_port) {
            return true;
        }
    }
    return false;
}

uint32_t flow_connections_lose(struct flow_connections *connections, uint32_t lost)
{
    for (uint32_t i = 0; i < FLOW_CONNECTIONS; i++) {
        if (connections->entries[i].state != FLOW_CONNECTION_NONE) {
            end(connections, i, (FLOW_END_SOURCE | FLOW_END_DESTINATION) & ~lost);
        } else {
            connections->entries[i].reset_owed &= (uint8_t)~lost;
        }
    }
    connections->owed &= ~lost;
    return connections->owed;
}

static void end_ending(struct flow_connections *connections, uint32_t client_port, uint32_t owed)
{
    for (uint32_t i = 0; i < FLOW_CONNECTIONS; i++) {
        if (connections->entries[i].state == FLOW_CONNECTION_ENDING &&
            connections->entries[i].client_port == client_port) {
            end(connections, i, owed);
            return;
        }
    }
}

void flow_connections_delivered(struct flow_connections *connections, const struct vsock_header *reset,
                                bool reverse)
{
    end_ending(connections, client_port_of(reset, reverse), 0);
}

void flow_connections_abort(struct flow_connections *connections, const struct vsock_header *header,
                            bool reverse)
{
    uint32_t client_port = client_port_of(header, reverse);
    uint32_t i = find(connections, client_port);

    if (header->operation == VSOCK_RESET) {
        end_ending(connections, client_port, reverse ? FLOW_END_SOURCE : FLOW_END_DESTINATION);
    } else if (i != FLOW_CONNECTIONS) {
        end(connections, i,
            FLOW_END_SOURCE | (header->operation == VSOCK_REQUEST ? 0 : FLOW_END_DESTINATION));
    }
}

bool flow_connections_owed(const struct flow_connections *connections, uint32_t whom,
                           struct vsock_header *reset)
{
    for (uint32_t i = 0; i < FLOW_CONNECTIONS; i++) {
        if ((connections->entries[i].reset_owed & whom) != 0) {
            struct vsock_header sent = {
                .source_cid = connections->source_cid,
                .destination_cid = connections->destination_cid,
                .source_port = connections->entries[i].client_port,
                .destination_port = connections->port,
                .type = VSOCK_TYPE_STREAM,
                .operation = VSOCK_RESET,
            };

            *reset = whom == FLOW_END_SOURCE ? vsock_reset_of(&sent) : sent;
            return true;
        }
    }
    return false;
}

void flow_connections_paid(struct flow_connections *connections, uint32_t whom,
                           const struct vsock_header *reset)
{
    uint32_t client_port = whom == FLOW_END_SOURCE ? reset->destination_port : reset->source_port;
    bool paid = false;

    connections->owed &= ~whom;
    for (uint32_t i = 0; i < FLOW_CONNECTIONS; i++) {
        if ((connections->entries[i].reset_owed & whom) == 0) {
            continue;
        }
        if (!paid && connections->entries[i].client_port == client_port) {
            connections->entries[i].reset_owed &= (uint8_t)~whom;
            paid = true;
        } else {
            connections->owed |= whom;
        }
    }
}
