/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The connections of one flow (F1, F11), each between a client at the flow's source, on any port, and the
 * server's port at its destination. Payload travels from source to destination, and back if the flow has a
 * way back; otherwise the way back carries only answers and credit. A packet that belongs to no connection is
 * answered with a reset; a packet that its connection may not carry ends the connection at both ends. The
 * caller serializes.
 *
 * A client port has one connection at a time, until both ends have been told that it has ended. The time of a
 * call grows with the number of connections only by the logarithm and by moving one byte for each;
 * flow_connections_lose() visits each once.
 */
#ifndef BULKHEAD_CORE_FLOW_CONNECTIONS_H
#define BULKHEAD_CORE_FLOW_CONNECTIONS_H

#include "core/vsock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_CONNECTIONS_MOST  128u
#define FLOW_CONNECTIONS_WORDS (FLOW_CONNECTIONS_MOST / 64u)

#define FLOW_END_SOURCE      1u
#define FLOW_END_DESTINATION 2u
#define FLOW_ENDS            2u /* end i is 1 << i */

/* State of a connection. */
enum flow_connection_state {
    FLOW_CONNECTION_REQUESTED,
    FLOW_CONNECTION_OPEN,
    FLOW_CONNECTION_ENDING, /* its reset is being delivered to the other end; no more packets belong to it */
    FLOW_CONNECTION_STATES,
};

/* A set of connection entries. */
struct flow_connection_set {
    uint64_t words[FLOW_CONNECTIONS_WORDS];
};

/* The connection that a packet belongs to: an entry, and the entry's life, which tells apart connections that
 * used the entry one after the other. */
struct flow_connection {
    uint32_t entry;
    uint32_t life;
};

struct flow_connections {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t port;  /* port of the server */
    uint32_t owed;  /* FLOW_END_…: ends to which at least one reset has still to be sent */
    uint32_t most;  /* most connections at a time, up to FLOW_CONNECTIONS_MOST */
    uint32_t count; /* entries in use: those with a state or with a reset still to be sent */
    uint32_t begun; /* connections ever opened, modulo 2^32 */
    /* an entry is in at most one of these sets */
    struct flow_connection_set in_state[FLOW_CONNECTION_STATES];
    /* the end must still be told that the connection has ended */
    struct flow_connection_set owed_to[FLOW_ENDS];
    /* connections of type VSOCK_TYPE_SEQPACKET; the others are VSOCK_TYPE_STREAM */
    struct flow_connection_set of_packets;
    uint8_t
        by_port[FLOW_CONNECTIONS_MOST]; /* `count` entries in use, sorted by port; then the free entries */
    struct {
        uint32_t client_port;
        uint32_t life;
    } entries[FLOW_CONNECTIONS_MOST];
};

enum flow_decision {
    FLOW_FORWARD,
    FLOW_ANSWER_RESET, /* to the sender: no such connection, or no room for a new one */
    FLOW_ABORT,        /* reset both ends; flow_connections_owed() returns the resets */
    FLOW_DROP,         /* a reset for a connection that does not exist */
};

/* `most`: 1 to FLOW_CONNECTIONS_MOST. */
void flow_connections_init(struct flow_connections *connections, uint64_t source_cid,
                           uint64_t destination_cid, uint32_t port, uint32_t most);

/* Decides what to do with a valid packet of this flow (`reverse`: it travels from destination to source),
 * whose payload may be at most `most_bytes`, and updates the state of the connection. On FLOW_FORWARD `*of`
 * is its connection. */
enum flow_decision flow_connections_take(struct flow_connections *connections,
                                         const struct vsock_header *header, bool reverse, uint32_t most_bytes,
                                         struct flow_connection *of);

/* Whether the connection of a forwarded packet still exists or, if the packet is a reset (`resets`), is the
 * one that this packet ends. If false, the connection has ended since, and the packet must not be delivered,
 * because packets before it are missing. */
bool flow_connections_has(const struct flow_connections *connections, const struct flow_connection *of,
                          bool resets);

/* State of the connection of a client's port; FLOW_CONNECTION_STATES: there is none, or it has ended. */
enum flow_connection_state flow_connections_state(const struct flow_connections *connections,
                                                  uint32_t client_port);

/* One end (FLOW_END_…) is gone: the other end of each connection must be sent a reset. 0: both ends are
 * present and both must be sent one. Returns the ends that now have resets to be sent. */
uint32_t flow_connections_lose(struct flow_connections *connections, uint32_t end);

/* A reset that one end sent has been delivered to the other end. */
void flow_connections_delivered(struct flow_connections *connections, const struct flow_connection *of);

/* A packet with this operation cannot be delivered: both ends of its connection must be sent a reset. For a
 * reset, only its receiver; for a request, which the server has not seen, only its sender. */
void flow_connections_abort(struct flow_connections *connections, const struct flow_connection *of,
                            uint16_t operation, bool reverse);

/* Gets a reset that has to be sent to this end; false if there is none. Call flow_connections_paid() when it
 * has been delivered. */
bool flow_connections_owed(const struct flow_connections *connections, uint32_t end,
                           struct vsock_header *reset);
void flow_connections_paid(struct flow_connections *connections, uint32_t end,
                           const struct vsock_header *reset);

#ifdef __cplusplus
}
#endif

#endif
