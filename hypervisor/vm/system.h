/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine as a whole: its manifest, its statistics page, its start and its end. There is one instance,
 * set up by the first core and read by all.
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

/* The accepted manifest; it is stored in the pool. */
const struct manifest_header *system_manifest(void);

/* The pool of the hypervisor's memory. */
struct pool *system_pool(void);

/* The statistics pages: of the system (the first page), and of a core. */
struct status_system *system_status(void);
struct status_core *system_core_status(uint32_t core);

/* Takes over what boot code has prepared. Called once on the first core, before all other functions of this
 * file. */
void system_init(const struct boot_handover *handover);

/* Records the start time. Called on the first core when all images are loaded and all cores are ready. */
void system_started(void);

/* Ends the run: makes the console core write the remaining output and turn the machine off. May be called on
 * any core; if it is called more than once, the first reason is kept. It returns, and the caller continues
 * until the machine is off. */
void system_end(enum bh_end_reason reason);

bool system_is_ending(void);

/* Records the time and the reason of the end. Called on the console core. */
void system_ended(void);

/* Turns the machine off at once; does not return. Works with the MMU off and on. */
_Noreturn void system_power_off(void);

#ifdef __cplusplus
}
#endif

#endif
