/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's side of the doors, the memory that it shares with each broker (core/broker_door.h): where a door is,
 * and how its broker is woken. `broker` is a broker's number. Code that writes to the door holds a lock. The
 * owner of each such lock must take it once after door_close(), before the broker's memory is given to
 * another user.
 */
#ifndef BULKHEAD_DOOR_H
#define BULKHEAD_DOOR_H

#include "core/broker_door.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Resets the doors' state: they are closed on all cores. Called on the first core, before any guest runs. */
void door_init(void);

/* Opens the door that the broker has announced. `domain`: the broker's own. `at`: guest-physical address of
 * BROKER_DOOR_PAGES pages of the broker's own memory. `by_event`: the broker waits for events (WFE) instead
 * of its interrupt. Returns false if the pages are not the broker's, or if the door is already open. Called
 * on the broker's core; other cores write to the door only after this call. */
bool door_open(uint32_t broker, const struct domain *domain, uint64_t at, bool by_event);

/* How often the door was opened. */
uint32_t door_opening(uint32_t broker);

/* Closes the door because the broker has stopped. May be called on any core. */
void door_close(uint32_t broker);

/* Saves the broker's last reply, including its progress in the queues, for the next broker. Called on the
 * broker's core when the broker no longer executes. Returns NULL if the reply has already been saved or the
 * door was never open. */
const struct broker_reply *door_keep_progress(uint32_t broker);

/* The door and the broker's reply as they are mapped on this core; NULL if the door is closed. */
struct broker_door *door_here(uint32_t broker);
const struct broker_reply *door_reply_here(uint32_t broker);

/* Rings bells of a device and wakes the broker if it waits. The caller holds the device's lock. */
void door_ring(uint32_t broker, struct broker_door *door, uint32_t device, uint32_t bells);

/* Time of the first notification of the device's transmit queue that the broker has not seen yet, in counter
 * ticks; 0 if there is none. */
uint64_t door_unheard_since(const struct broker_door *door, uint32_t device);

/* Wakes the broker, if it waits, so that it sees the stores made before this call. */
void door_wake(uint32_t broker, struct broker_door *door);

/* The broker has taken its interrupt. Called on the broker's core. */
void door_heard(uint32_t broker);

#ifdef __cplusplus
}
#endif

#endif
