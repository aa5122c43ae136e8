/* SPDX-License-Identifier: Apache-2.0
 *
 * Time stamps of a packet's path (core/path_costs.h), in a frame of the pool for each core, if the manifest
 * asks for them. What begins on one core and ends on another is here, too; most parts are the broker's own.
 */
#ifndef BULKHEAD_PATH_STAMPS_H
#define BULKHEAD_PATH_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* First core, before the pool is sealed. False: the pool is exhausted. */
bool path_stamps_init(void);

/* What the broker has measured of its own parts so far: a status_path_costs in a whole page of its memory, at
 * this guest-physical address. On its core. False: it is no such page, or nobody asked for stamps. */
bool path_stamps_take(const struct domain *broker, uint64_t at);

/* The line of a domain's device rises now. */
void path_stamps_raise(uint32_t domain);

/* Its driver asks what it is about. On its core. */
void path_stamps_heard(uint32_t domain);

#ifdef __cplusplus
}
#endif

#endif
