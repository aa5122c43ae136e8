// SPDX-License-Identifier: Apache-2.0
//
// A rehearsal: two simulated ends exchange packets before the first driver starts, so that code and state of
// the exchange are in the caches by then. Otherwise the first packets wait for DRAM at each line, and the
// analysis has to count this time for every packet.
#ifndef BULKHEAD_GUESTS_BROKER_REHEARSAL_H
#define BULKHEAD_GUESTS_BROKER_REHEARSAL_H

#include "core/flow_exchange.h"

// Uses the exchange, two devices and two paths; all of them must be initialized again afterwards.
void rehearse(struct flow_exchange *exchange, struct vsock_device devices[2], struct flow_path paths[2]);

#endif
