/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What the broker has in flight: a packet of which a part is delivered, and the receive buffer that it goes
 * to. Of the exchange alone (flow_exchange_next.c), on the broker's core.
 */
#ifndef BULKHEAD_CORE_FLOW_INFLIGHT_H
#define BULKHEAD_CORE_FLOW_INFLIGHT_H

#include "core/flow_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A packet that may go now. */
struct flow_choice {
    struct packet_key key;
    struct vsock_header header;
    uint32_t sender;
    uint32_t slot;
    uint64_t serial;
    uint64_t sender_life;
};

/* Whether it is the choice that is in flight. */
bool flow_inflight_has(const struct flow_inflight *inflight, const struct flow_choice *choice);

/* The choice, with a receive buffer for it, in the place of what was in flight. False: its receiver has none
 * now, and all stays as it was. */
bool flow_inflight_take(struct flow_exchange *exchange, const struct flow_choice *choice,
                        struct flow_effects *effects);

/* The packet in flight was forgotten. */
bool flow_inflight_is_gone(struct flow_exchange *exchange);

/* The next piece of the packet in flight. False: one of its ends is gone. `busy` is said before both are
 * asked whether they are still there, and flow_exchange_lose() asks in the other order. */
bool flow_inflight_transfer(struct flow_exchange *exchange);

/* The transfer that was handed out is done. */
void flow_inflight_complete(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

/* What the buffer in flight holds is delivered; nothing: it goes back. */
void flow_inflight_put(struct flow_exchange *exchange, struct flow_effects *effects);

/* The buffer in flight is not for the packet that comes next. What is in it is delivered, if its packet is
 * still there: else nobody waits for it. */
void flow_inflight_drop(struct flow_exchange *exchange, struct flow_effects *effects);

/* The packet in flight is not delivered: nobody waits for what is in its buffer. */
void flow_inflight_discard(struct flow_exchange *exchange, struct flow_effects *effects);

/* What lies in the buffer in flight, which will not be delivered, is copied again. */
void flow_inflight_take_back(struct flow_exchange *exchange);

/* The packet in `slot` is delivered. Under its sender's lock. */
void flow_inflight_finish(struct flow_exchange *exchange, struct vsock_device *sender, uint32_t slot,
                          uint64_t now, struct flow_effects *effects);

/* A packet that the broker has begun with is not delivered. */
void flow_inflight_count_lost(struct flow_exchange *exchange, uint32_t path, struct flow_effects *effects);

#ifdef __cplusplus
}
#endif

#endif
