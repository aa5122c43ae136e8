/* SPDX-License-Identifier: Apache-2.0
 *
 * Time stamps of a packet's path (core/path_costs.h), in a frame of the pool for each core, if the manifest
 * asks for them. What begins on one core and ends on another is here, too.
 */
#ifndef BULKHEAD_PATH_STAMPS_H
#define BULKHEAD_PATH_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First core, before the pool is sealed. False: the pool is exhausted. */
bool path_stamps_init(void);

/* A packet was in its queue at `queued_at` (0: none is new), or something else wakes the broker now. */
void path_stamps_wake(uint64_t queued_at);

/* The broker looks at the queues now, for the first time since it had nothing to do if `slept`; it was to
 * look again at `until` at the latest. */
void path_stamps_look(bool slept, uint64_t until);

/* The line of a domain's device rises now. */
void path_stamps_raise(uint32_t domain);

/* Its driver asks what it is about. On its core. */
void path_stamps_heard(uint32_t domain);

#ifdef __cplusplus
}
#endif

#endif
