// SPDX-License-Identifier: Apache-2.0
//
// Events that EL2 reports through the door, for the exchange: devices that are set up and reset,
// notifications, flows that begin and end, the end of a transfer of the engine at EL2.
#ifndef BULKHEAD_GUESTS_BROKER_NEWS_H
#define BULKHEAD_GUESTS_BROKER_NEWS_H

#include "core/flow_exchange.h"

// Initializes the exchange and its devices by the door's map; reads no other part of the door. `paths` has
// room for BH_MAX_FLOWS.
void news_init(struct flow_path paths[]);

// Takes events that are new since the last call and were noted by `now`.
void news_take(uint64_t now);

// Whether there are new events.
bool news_are_there(void);

// Reports to EL2 the lives of devices, and the flows, whose memory is no longer accessed.
void news_leave(void);

#endif
