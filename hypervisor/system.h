/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine as a whole: its manifest, its statistics page, its start and its end. One instance, set up by
 * the first core and read by all.
 */
#ifndef BULKHEAD_SYSTEM_H
#define BULKHEAD_SYSTEM_H

#include "core/manifest.h"
#include "pool.h"
#include <bulkhead_layout.h>
#include <stdbool.h>

/* The accepted manifest, in the pool. */
const struct manifest_header *system_manifest(void);

/* The hypervisor's memory. */
struct pool *system_pool(void);

/* Statistics: the first page, and the page of a core. */
struct status_system *system_status(void);
struct status_core *system_core_status(uint32_t core);

/* Takes over what boot prepared. First core, once, before anything else of this file. */
void system_init(void);

/* All images are loaded and all cores are ready: stamps the start. First core. */
void system_started(void);

/* Ends the run: has the console core write what waits and turn the machine off. Any core; first reason wins.
 * Returns; the caller goes on until the machine is off. */
void system_end(enum bh_end_reason reason);

bool system_is_ending(void);

/* The console core's part of system_end(): does not return. Does nothing if no end was asked for. */
void system_finish_if_ending(void);

/* Turns the machine off at once. Does not return. Works with the MMU off and on. */
_Noreturn void system_power_off(void);

#endif
