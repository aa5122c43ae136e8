/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Functions that the files of the exchange share: paths, their lines, and the resets that both ends have to
 * be sent. Only those files call this.
 */
#ifndef BULKHEAD_CORE_FLOW_PATHS_H
#define BULKHEAD_CORE_FLOW_PATHS_H

#include "core/flow_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The end of the path that the device is (FLOW_END_…), or 0 if it is none. */
static inline uint32_t flow_path_end(const struct flow_path *path, uint32_t device)
{
    return path->source == device ? FLOW_END_SOURCE : path->destination == device ? FLOW_END_DESTINATION : 0;
}

static inline uint32_t flow_path_sender(const struct flow_path *path, enum flow_direction direction)
{
    return direction == FLOW_THERE ? path->source : path->destination;
}

static inline uint32_t flow_path_receiver(const struct flow_path *path, enum flow_direction direction)
{
    return direction == FLOW_THERE ? path->destination : path->source;
}

static inline enum flow_direction flow_direction_of(const struct vsock_packet *packet)
{
    return packet->reverse ? FLOW_BACK : FLOW_THERE;
}

static inline bool flow_device_runs(const struct flow_exchange *exchange, uint32_t device)
{
    return virtio_device_runs(&exchange->devices[device]->virtio);
}

/* Statistics of one direction of a path, which the caller changes; reports the change in the effects. */
struct flow_path_statistics *flow_path_count(struct flow_exchange *exchange, uint32_t number,
                                             enum flow_direction direction, struct flow_effects *effects);

/* Recomputes the turns of all devices after a flow was opened or closed. */
void flow_exchange_share_turns(struct flow_exchange *exchange);

/* Converts ticks to ns, the unit of core/flow_turns.h, and ns to ticks, rounded up. */
uint64_t flow_exchange_ns(const struct flow_exchange *exchange, uint64_t ticks);
uint64_t flow_exchange_ticks(const struct flow_exchange *exchange, uint64_t ns);

/* Called after any change of a path's lines or of the resets of its connections: schedules the resets, each
 * in the time of the domain that caused it. */
void flow_path_settle(struct flow_exchange *exchange, uint32_t number, uint64_t now);

/* Releases the packets of a direction that was skipped for lack of a buffer anew at `now`
 * (packet_line_release_anew()). */
void flow_path_release_anew(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                            uint64_t now);

/* Delivers a header without payload along a direction. The sender of a group gets what the header means for
 * the group's connection. Returns false if the receiver has no buffer. */
bool flow_path_deliver_header(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                              const struct vsock_header *header, uint64_t now);

/* Removes the first packet of a line, which was delivered or given up. */
void flow_path_finish_first(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction);

/* The first packet of a line cannot be delivered: its connection ends. `at_fault`: the end that caused this
 * (FLOW_END_…). */
void flow_path_give_up(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                       uint32_t at_fault, uint64_t now, struct flow_effects *effects);

/* Called at the end of a call: devices that have failed are lost, and the effects name the drivers to
 * interrupt. */
void flow_exchange_settle(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

#ifdef __cplusplus
}
#endif

#endif
