/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The packet in flight, of which a part is delivered, and the receive buffer that it goes to. Only the
 * exchange calls this.
 */
#ifndef BULKHEAD_CORE_FLOW_INFLIGHT_H
#define BULKHEAD_CORE_FLOW_INFLIGHT_H

#include "core/flow_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the packet in flight is the first packet of this line. */
bool flow_inflight_has(const struct flow_exchange *exchange, uint32_t path, enum flow_direction direction);

enum flow_take {
    FLOW_TAKEN,
    FLOW_NO_BUFFER, /* no buffer now, or one of the two ends has failed */
    /* the buffer is shorter than the device accepts (core/flow_transfers.h) and the packet needs more; it
     * was returned to the driver */
    FLOW_SHORT_BUFFER,
};

/* Takes the first packet of a line and a receive buffer for it, in place of the packet that was in flight.
 * The part of that packet that lies in its buffer is delivered. */
enum flow_take flow_inflight_take(struct flow_exchange *exchange, uint32_t path,
                                  enum flow_direction direction, uint64_t now);

/* Sets up the next transfer of the packet. Returns false if one of its ends has failed. */
bool flow_inflight_transfer(struct flow_exchange *exchange);

/* Counts a transfer of the packet that has been made. */
void flow_inflight_count_transfer(struct flow_exchange *exchange);

/* Whether the packet has used all the transfers that its flow allows and is still not delivered
 * completely. */
bool flow_inflight_is_in_pieces(const struct flow_exchange *exchange);

/* The current transfer is done. Returns true if it was the last one of its packet. */
bool flow_inflight_complete(struct flow_exchange *exchange);

/* The packet is given up; the bytes in its receive buffer are discarded. */
void flow_inflight_discard(struct flow_exchange *exchange);

/* The packets of a line are dropped. */
void flow_inflight_forget(struct flow_exchange *exchange, uint32_t path, enum flow_direction direction);

#ifdef __cplusplus
}
#endif

#endif
