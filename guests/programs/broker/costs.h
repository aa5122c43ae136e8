// SPDX-License-Identifier: Apache-2.0
//
// What parts of a packet's path take in the broker (core/path_costs.h), if the map of the door asks for that.
#ifndef BULKHEAD_GUESTS_BROKER_COSTS_H
#define BULKHEAD_GUESTS_BROKER_COSTS_H

#include <stdint.h>

// When the door is open.
void costs_init(void);

// The broker begins to wait: until `until` at the latest. What was measured goes to EL2.
void costs_wait(uint64_t until);

// A driver has notified its device at `notified` ticks, and the broker sees that now.
void costs_woken(uint64_t notified);

// The broker has looked at all that is new.
void costs_looked(void);

#endif
