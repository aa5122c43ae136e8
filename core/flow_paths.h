/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What the files of the exchange share: paths, their lines, and what both ends are owed. Its only callers.
 */
#ifndef BULKHEAD_CORE_FLOW_PATHS_H
#define BULKHEAD_CORE_FLOW_PATHS_H

#include "core/flow_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* FLOW_END_…, or 0 if the device is no end of the flow. */
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

/* The figures of one direction of a path, which have changed. */
struct flow_path_statistics *flow_path_count(struct flow_exchange *exchange, uint32_t number,
                                             enum flow_direction direction, struct flow_effects *effects);

/* After a flow has come or gone: the turns of all devices are those of the flows that there are. */
void flow_exchange_share_turns(struct flow_exchange *exchange);

/* By the clock of core/flow_turns.h, and back, rounded up. */
uint64_t flow_exchange_ns(const struct flow_exchange *exchange, uint64_t ticks);
uint64_t flow_exchange_ticks(const struct flow_exchange *exchange, uint64_t ns);

/* After anything that changes what the connections of a path are owed, or its lines: ends hear of it, each in
 * the time of whoever caused it. */
void flow_path_settle(struct flow_exchange *exchange, uint32_t number, uint64_t now);

/* What a direction was passed over with is released anew at `now` (packet_line_release_anew()). */
void flow_path_release_anew(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                            uint64_t now);

/* The first packet of a line is delivered or given up. */
void flow_path_finish_first(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction);

/* The first packet of a line is not delivered: its connection ends. `at_fault`: FLOW_END_…, whose doing it
 * is. */
void flow_path_give_up(struct flow_exchange *exchange, uint32_t number, enum flow_direction direction,
                       uint32_t at_fault, uint64_t now, struct flow_effects *effects);

/* After a call: devices that have failed are lost, and the effects say who is to be interrupted. */
void flow_exchange_settle(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

#ifdef __cplusplus
}
#endif

#endif
