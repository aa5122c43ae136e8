// SPDX-License-Identifier: Apache-2.0
//
// Times of the parts of a packet's path in the broker (core/path_costs.h), recorded if the door's map asks
// for that.
#ifndef BULKHEAD_GUESTS_BROKER_COSTS_H
#define BULKHEAD_GUESTS_BROKER_COSTS_H

#include <stdint.h>

// Called when the door has been mapped.
void costs_init(void);

// The broker begins to wait, until `until` at the latest. The measured times are passed to EL2.
void costs_wait(uint64_t until);

// A driver notified its device at `notified` ticks, and the broker sees this now.
void costs_woken(uint64_t notified);

// The broker has handled all that is new.
void costs_looked(void);

#endif
