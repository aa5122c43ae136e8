/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine as a whole: its manifest, its statistics page, its start and its end. One instance, set up by
 * the first core and read by all.
 */
#ifndef BULKHEAD_SYSTEM_H
#define BULKHEAD_SYSTEM_H

#include "base/boot_handover.h"
#include "core/manifest.h"
#include "memory/pool.h"
#include <bulkhead_layout.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The accepted manifest, in the pool. */
const struct manifest_header *system_manifest(void);

/* The hypervisor's memory. */
struct pool *system_pool(void);

/* Statistics: the first page, and the page of a core. */
struct status_system *system_status(void);
struct status_core *system_core_status(uint32_t core);

/* Takes over what boot prepared. First core, once, before anything else of this file. */
void system_init(const struct boot_handover *handover);

/* All images are loaded and all cores are ready: stamps the start. First core. */
void system_started(void);

/* Ends the run: has the console core write what waits and turn the machine off. Any core; first reason wins.
 * Returns; the caller goes on until the machine is off. */
void system_end(enum bh_end_reason reason);

bool system_is_ending(void);

/* The end has begun: stamps it and why. Console core. */
void system_ended(void);

/* Turns the machine off at once. Does not return. Works with the MMU off and on. */
_Noreturn void system_power_off(void);

#ifdef __cplusplus
}
#endif

#endif
