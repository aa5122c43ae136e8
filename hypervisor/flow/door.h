/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's side of the door, the memory that it shares with the broker (core/broker_door.h): where the door is,
 * and how the broker is woken. Code that writes to the door holds a lock. The owner of each such lock must
 * take it once after door_close(), before the broker's memory is given to another user.
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

/* Resets the door's state: it is closed on all cores. Called on the first core, before any guest runs. */
void door_init(void);

/* Opens the door that the broker has announced. `at`: guest-physical address of BROKER_DOOR_PAGES pages of
 * the broker's own memory. `by_event`: the broker waits for events (WFE) instead of its interrupt. Returns
 * false if the pages are not the broker's, or if the door is already open. Called on the broker's core; other
 * cores write to the door only after this call. */
bool door_open(const struct domain *broker, uint64_t at, bool by_event);

/* Closes the door because the broker has stopped. May be called on any core. */
void door_close(void);

/* Saves the broker's last reply, including its progress in the queues, for the next broker. Called on the
 * broker's core when the broker no longer executes. Returns NULL if the reply has already been saved or the
 * door was never open. */
const struct broker_reply *door_keep_progress(void);

/* The door and the broker's reply as they are mapped on this core; NULL if the door is closed. */
struct broker_door *door_here(void);
const struct broker_reply *door_reply_here(void);

/* Rings bells of a device and wakes the broker if it waits. The caller holds the device's lock. */
void door_ring(struct broker_door *door, uint32_t device, uint32_t bells);

/* Time of the first notification of the device's transmit queue that the broker has not seen yet, in counter
 * ticks; 0 if there is none. */
uint64_t door_unheard_since(const struct broker_door *door, uint32_t device);

/* Wakes the broker, if it waits, so that it sees the stores made before this call. */
void door_wake(struct broker_door *door);

/* The broker has taken its interrupt. Called on the broker's core. */
void door_heard(void);

#ifdef __cplusplus
}
#endif

#endif
