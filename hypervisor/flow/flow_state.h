/* SPDX-License-Identifier: Apache-2.0
 *
 * Per-core state of flows, without functions. The functions that use it are in the other headers of flow/.
 */
#ifndef BULKHEAD_FLOW_STATE_H
#define BULKHEAD_FLOW_STATE_H

#include "core/path_costs.h"
#include <bulkhead_layout.h>
#include <stdint.h>

struct broker_door;
struct broker_reply;

/* A broker's door as it is mapped on this core (door.c). */
struct door_view {
    uint32_t opening; /* number of the opening of the door for which the pointers are valid */
    struct broker_door *door;
    struct broker_reply *reply; /* written by the broker; EL2 writes to it only when the door opens */
};

struct flow_core {
    struct path_recorder recorder; /* stamps of packets' paths on this core (path_stamps.h) */
    struct door_view views[BH_MAX_BROKERS];
};

#endif
