/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The connections of one flow (F1): a client at its source, any port, and the server's port at its
 * destination. Payload goes from source to destination only; the way back carries answers and credit. What
 * does not belong to a connection is answered with a reset, and what a connection may not carry ends it at
 * both ends. The caller serializes.
 */
#ifndef BULKHEAD_CORE_FLOW_CONNECTIONS_H
#define BULKHEAD_CORE_FLOW_CONNECTIONS_H

#include "core/vsock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_CONNECTIONS 16u /* of a flow at a time */

enum flow_connection_state {
    FLOW_CONNECTION_NONE,
    FLOW_CONNECTION_REQUESTED,
    FLOW_CONNECTION_OPEN,
    FLOW_CONNECTION_ENDING, /* its reset is on its way to the other end; no packet is of it any more */
};

struct flow_connections {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t port; /* of the server */
    uint32_t owed; /* FLOW_END_…: ends that are owed a reset, of any connection */
    struct {
        uint32_t client_port;
        uint8_t state;      /* enum flow_connection_state */
        uint8_t reset_owed; /* FLOW_END_… that have still to hear that it has ended; the entry is taken until
                               then */
    } entries[FLOW_CONNECTIONS];
};

#define FLOW_END_SOURCE      1u
#define FLOW_END_DESTINATION 2u

enum flow_decision {
    FLOW_FORWARD,
    FLOW_ANSWER_RESET, /* to the sender: there is no such connection, or no room for one */
    FLOW_ABORT,        /* reset both ends: flow_connections_owed() says what is owed */
    FLOW_DROP,         /* a reset of nothing */
};

void flow_connections_init(struct flow_connections *connections, uint64_t source_cid,
                           uint64_t destination_cid, uint32_t port);

/* Whether the packet, which is sound, goes the way of this flow; `*reverse`: from its destination to its
 * source. */
bool flow_connections_carry(const struct flow_connections *connections, const struct vsock_header *header,
                            bool *reverse);

/* What becomes of such a packet, of which at most `most_bytes` may be payload; the connection's state
 * follows.
 */
enum flow_decision flow_connections_take(struct flow_connections *connections,
                                         const struct vsock_header *header, bool reverse,
                                         uint32_t most_bytes);

/* Whether a packet that was forwarded is still of its connection, or of one that its reset ends: else that
 * has ended since, and nobody is to get what follows what is missing. */
bool flow_connections_has(const struct flow_connections *connections, const struct vsock_header *header,
                          bool reverse);

/* One end, FLOW_END_…, is not there any more: the other end of each connection is owed a reset; 0: both are
 * there, and are owed one. Returns the ends that are owed any now. */
uint32_t flow_connections_lose(struct flow_connections *connections, uint32_t end);

/* A reset of one end has reached the other. */
void flow_connections_delivered(struct flow_connections *connections, const struct vsock_header *reset,
                                bool reverse);

/* A packet is not delivered: both ends of its connection are owed a reset. If it is a reset, its receiver is;
 * if it is a request, of which the server has not heard, its sender. */
void flow_connections_abort(struct flow_connections *connections, const struct vsock_header *header,
                            bool reverse);

/* A reset that this end is owed, if there is one; flow_connections_paid() when it was delivered. */
bool flow_connections_owed(const struct flow_connections *connections, uint32_t end,
                           struct vsock_header *reset);
void flow_connections_paid(struct flow_connections *connections, uint32_t end,
                           const struct vsock_header *reset);

#ifdef __cplusplus
}
#endif

#endif
