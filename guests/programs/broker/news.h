// SPDX-License-Identifier: Apache-2.0
//
// What EL2 tells through the door, for the exchange: devices that are set up and reset, notifications, flows
// that begin and end, the engine.
#ifndef BULKHEAD_GUESTS_BROKER_NEWS_H
#define BULKHEAD_GUESTS_BROKER_NEWS_H

#include "core/flow_exchange.h"

// The exchange and its devices, as the map of the door says; nothing of the door was looked at. `paths` has
// BH_MAX_FLOWS places.
void news_init(struct flow_path paths[]);

// Takes what is new since the last call and was noted by `now`.
void news_take(uint64_t now);

// Whether there is something new.
bool news_are_there(void);

// Says of which lives of devices, and of which flows, nothing is touched any more.
void news_leave(void);

// Whether the engine's transfer has ended; whether it was done, which clears that.
bool news_engine_has_ended(void);
bool news_engine_has_done(void);

#endif
