// SPDX-License-Identifier: Apache-2.0
//
// A rehearsal: two ends that there are not talk with each other before the first driver comes, so that code
// and state of the exchange are in the caches when it does. Else the first packets wait for DRAM at each
// line, and the analysis has to count that for each packet that will ever come.
#ifndef BULKHEAD_GUESTS_BROKER_REHEARSAL_H
#define BULKHEAD_GUESTS_BROKER_REHEARSAL_H

#include "core/flow_exchange.h"

// Uses the exchange, two devices and two paths; all of them are to be set up anew.
void rehearse(struct flow_exchange *exchange, struct vsock_device devices[2], struct flow_path paths[2]);

#endif
