// SPDX-License-Identifier: Apache-2.0
//
// For programs that attack: packets that name another sender, as many as the device has places for, sent
// again as soon as it gives them back.
#ifndef BULKHEAD_GUESTS_FLOOD_H
#define BULKHEAD_GUESTS_FLOOD_H

#include <stdbool.h>

// Called after socket_start(). Once it has been called, no other function may send. `tell`: notify the
// device.
void socket_prepare_flood(void);
void socket_flood(bool tell);

#endif
