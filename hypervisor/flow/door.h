/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's side of the door that it and the broker share (core/broker_door.h): where it is, and what wakes the
 * broker. Who writes to the door holds a lock that its owner takes once, too, after door_close(), before the
 * broker's memory becomes another one's.
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

/* No core has seen a door. First core, before any guest runs. */
void door_init(void);

/* The broker says where its door is: guest-physical address of BROKER_DOOR_PAGES pages of its own;
 * `by_event`: it waits for events, not for its interrupt. False: they are not such pages, or are open
 * already. On the broker's core. What others tell is told after that. */
bool door_open(const struct domain *broker, uint64_t at, bool by_event);

/* The broker is gone. Any core. */
void door_close(void);

/* The broker executes no more: its last word, and how far it was, for the next one. NULL: it was asked for
 * before, or the door was never open. On the broker's core. */
const struct broker_reply *door_keep_progress(void);

/* As this core sees them; NULL: there is none. */
struct broker_door *door_here(void);
const struct broker_reply *door_reply_here(void);

/* Rings bells of a device, under the device's lock; and wakes the broker if it waits. */
void door_ring(struct broker_door *door, uint32_t device, uint32_t bells);

/* Ticks: the first notification of a device's sending queue that the broker has not heard; 0: none. */
uint64_t door_unheard_since(const struct broker_door *door, uint32_t device);

/* Wakes the broker, if it waits, for what was stored before. */
void door_wake(struct broker_door *door);

/* The broker has heard its interrupt. On its core. */
void door_heard(void);

#ifdef __cplusplus
}
#endif

#endif
