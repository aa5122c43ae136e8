/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The group of a multicast flow (F7): one sender, several receivers. Each receiver is the end of a path of
 * its own, a leg, with its own connection, line and figures. The sender has one connection, to the CID of the
 * group. The exchange copies what the sender sends to the legs. What a leg delivers to the sender is
 * translated here, so that the sender sees one receiver. Only the exchange calls this.
 */
#ifndef BULKHEAD_CORE_FLOW_GROUP_H
#define BULKHEAD_CORE_FLOW_GROUP_H

#include "core/flow_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A path that is opened or closed as a leg of a group. */
void flow_group_add(struct flow_exchange *exchange, uint32_t number);
void flow_group_remove(struct flow_exchange *exchange, uint32_t number);

/* The group to which a device sends a packet; NULL: the packet is not addressed to a group of this sender. */
struct flow_group *flow_group_of(struct flow_exchange *exchange, const struct vsock_device *sender,
                                 const struct vsock_header *header);

/* Whether a packet from the sender belongs to the group's connection or begins one. If it begins or ends one,
 * the group's state changes. A request replaces an earlier one whose answer the sender was not told. */
bool flow_group_takes(struct flow_exchange *exchange, struct flow_group *group,
                      const struct vsock_header *header, uint64_t now);

/* Whether leg `number` gets a copy of a packet of the group's connection. The copy is addressed to the leg's
 * receiver. Payload for a receiver without a connection becomes a request: the receiver is invited. */
bool flow_group_copy(struct flow_exchange *exchange, uint32_t number, struct vsock_header *header);

/* Leg `number` has taken this copy of a packet of the sender. */
void flow_group_copied(struct flow_exchange *exchange, uint32_t number, const struct vsock_header *header);

/* All legs have got their copies of a packet. */
void flow_group_sent(struct flow_group *group, const struct vsock_header *header);

/* The receiver of a leg has sent this packet, which its connection may carry: notes its credit. */
void flow_group_hear(struct flow_exchange *exchange, uint32_t number, const struct vsock_header *header,
                     uint64_t now);

/* Whether the sender hears nothing of leg `number` yet, because its request waits for the answers of other
 * receivers. */
bool flow_group_awaits(const struct flow_exchange *exchange, uint32_t number, uint64_t now);

/* Ends requests that no receiver has accepted in time. `*until` becomes the time at which this has to be
 * called again, if that is sooner. */
void flow_group_expire(struct flow_exchange *exchange, uint64_t now, uint64_t *until);

/* Delivers to the sender what a packet or reset from a leg means for the group's connection, which may be
 * nothing. Returns false if the sender has no receive buffer. */
bool flow_group_tell(struct flow_exchange *exchange, uint32_t number, const struct vsock_header *header,
                     uint64_t now);

/* 1 + bytes that were sent to the receiver of a leg and that it has not taken; 0: it has no connection. */
uint64_t flow_group_unread(struct flow_exchange *exchange, uint32_t number);

/* The sender of a leg is lost, and with it the group's connection. */
void flow_group_forget(struct flow_exchange *exchange, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
