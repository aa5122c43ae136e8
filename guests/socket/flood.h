// SPDX-License-Identifier: Apache-2.0
//
// For programs that attack: packets that name another sender, as many as the device has places for, sent
// again as soon as it gives them back.
#ifndef BULKHEAD_GUESTS_FLOOD_H
#define BULKHEAD_GUESTS_FLOOD_H

#include <stdbool.h>

// After socket_start(). No other call sends after the first of these. `tell`: the device is notified.
void socket_prepare_flood(void);
void socket_flood(bool tell);

#endif
