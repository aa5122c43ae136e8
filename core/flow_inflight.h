/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What is under way: a packet of which a part is delivered, and the receive buffer that it goes to. Of the
 * exchange alone.
 */
#ifndef BULKHEAD_CORE_FLOW_INFLIGHT_H
#define BULKHEAD_CORE_FLOW_INFLIGHT_H

#include "core/flow_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether it is the first packet of that line that is under way. */
bool flow_inflight_has(const struct flow_exchange *exchange, uint32_t path, enum flow_direction direction);

enum flow_take {
    FLOW_TAKEN,
    FLOW_NO_BUFFER,    /* now; or one of both ends has failed */
    FLOW_SHORT_BUFFER, /* shorter than the device accepts (core/flow_transfers.h), for a packet that needs
                          more: the buffer went back */
};

/* The first packet of a line, with a receive buffer for it, in the place of what was under way: what of that
 * lies in its buffer is delivered. */
enum flow_take flow_inflight_take(struct flow_exchange *exchange, uint32_t path,
                                  enum flow_direction direction);

/* The next transfer of the packet. False: it has none, because one of its ends has failed. */
bool flow_inflight_transfer(struct flow_exchange *exchange);

/* The transfer is begun. */
void flow_inflight_count_transfer(struct flow_exchange *exchange);

/* Whether the packet has had as many transfers as its flow may have, and is not delivered. */
bool flow_inflight_is_in_pieces(const struct flow_exchange *exchange);

/* The transfer that was handed out is done: true if that was the last of its packet. */
bool flow_inflight_complete(struct flow_exchange *exchange);

/* The packet is not delivered: nobody waits for what is in its buffer. */
void flow_inflight_discard(struct flow_exchange *exchange);

/* Packets of that line are forgotten. */
void flow_inflight_forget(struct flow_exchange *exchange, uint32_t path, enum flow_direction direction);

#ifdef __cplusplus
}
#endif

#endif
