/* SPDX-License-Identifier: Apache-2.0
 *
 * What flows keep of a core: state only. The other headers of flow/ have what works on it.
 */
#ifndef BULKHEAD_FLOW_STATE_H
#define BULKHEAD_FLOW_STATE_H

#include "core/path_costs.h"
#include <stdint.h>

struct broker_door;
struct broker_reply;

/* How this core sees the broker's door (door.c). */
struct door_view {
    uint32_t opening; /* of which opening of the door the pointers are */
    struct broker_door *door;
    struct broker_reply *reply; /* the broker's: EL2 writes to it only when the door opens */
};

struct flow_core {
    struct path_recorder recorder; /* stamps of packets' paths on this core (path_stamps.h) */
    struct door_view view;
};

#endif
