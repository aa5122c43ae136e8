/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The connections of one flow (F1, F11): a client at its source, any port, and the server's port at its
 * destination. Payload goes from source to destination, and back if the flow has a way back; else that
 * carries answers and credit alone. What does not belong to a connection is answered with a reset, and what a
 * connection may not carry ends it at both ends. The caller serializes.
 *
 * A port of the client has one connection at a time, until both ends have heard of its end. All calls take a
 * time that does not grow with the number of connections but by the moves of one byte each, and by the
 * logarithm; flow_connections_lose() looks at each once.
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

/* What a connection is at. */
enum flow_connection_state {
    FLOW_CONNECTION_REQUESTED,
    FLOW_CONNECTION_OPEN,
    FLOW_CONNECTION_ENDING, /* its reset is on its way to the other end; no packet is of it any more */
    FLOW_CONNECTION_STATES,
};

/* Of entries. */
struct flow_connection_set {
    uint64_t words[FLOW_CONNECTIONS_WORDS];
};

/* The connection that a packet is of: an entry, and which of those that it was one after the other. */
struct flow_connection {
    uint32_t entry;
    uint32_t life;
};

struct flow_connections {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t port;  /* of the server */
    uint32_t owed;  /* FLOW_END_…: ends that are owed a reset, of any connection */
    uint32_t most;  /* at a time, FLOW_CONNECTIONS_MOST at most */
    uint32_t count; /* of entries that are taken: those in a state or owed to an end */
    uint32_t begun; /* connections ever, modulo 2^32 */
    struct flow_connection_set in_state[FLOW_CONNECTION_STATES]; /* an entry is in one at most */
    struct flow_connection_set owed_to[FLOW_ENDS]; /* it has still to hear that the connection has ended */
    struct flow_connection_set of_packets;         /* VSOCK_TYPE_SEQPACKET, else VSOCK_TYPE_STREAM */
    uint8_t
        by_port[FLOW_CONNECTIONS_MOST]; /* entries that are taken, `count`, by their ports; then the rest */
    struct {
        uint32_t client_port;
        uint32_t life;
    } entries[FLOW_CONNECTIONS_MOST];
};

enum flow_decision {
    FLOW_FORWARD,
    FLOW_ANSWER_RESET, /* to the sender: there is no such connection, or no room for one */
    FLOW_ABORT,        /* reset both ends: flow_connections_owed() says what is owed */
    FLOW_DROP,         /* a reset of nothing */
};

/* `most`: 1 to FLOW_CONNECTIONS_MOST. */
void flow_connections_init(struct flow_connections *connections, uint64_t source_cid,
                           uint64_t destination_cid, uint32_t port, uint32_t most);

/* What becomes of a sound packet of this flow (`reverse`: from its destination to its source), of which at
 * most `most_bytes` may be payload; the connection's state follows. With FLOW_FORWARD `*of` is its
 * connection. */
enum flow_decision flow_connections_take(struct flow_connections *connections,
                                         const struct vsock_header *header, bool reverse, uint32_t most_bytes,
                                         struct flow_connection *of);

/* Whether a packet that was forwarded is still of its connection, or of one that its reset ends (`resets`):
 * else that has ended since, and nobody is to get what follows what is missing. */
bool flow_connections_has(const struct flow_connections *connections, const struct flow_connection *of,
                          bool resets);

/* One end, FLOW_END_…, is not there any more: the other end of each connection is owed a reset; 0: both are
 * there, and are owed one. Returns the ends that are owed any now. */
uint32_t flow_connections_lose(struct flow_connections *connections, uint32_t end);

/* A reset of one end has reached the other. */
void flow_connections_delivered(struct flow_connections *connections, const struct flow_connection *of);

/* A packet of that operation is not delivered: both ends of its connection are owed a reset. If it is a
 * reset, its receiver is; if it is a request, of which the server has not heard, its sender. */
void flow_connections_abort(struct flow_connections *connections, const struct flow_connection *of,
                            uint16_t operation, bool reverse);

/* A reset that this end is owed, if there is one; flow_connections_paid() when it was delivered. */
bool flow_connections_owed(const struct flow_connections *connections, uint32_t end,
                           struct vsock_header *reset);
void flow_connections_paid(struct flow_connections *connections, uint32_t end,
                           const struct vsock_header *reset);

#ifdef __cplusplus
}
#endif

#endif
