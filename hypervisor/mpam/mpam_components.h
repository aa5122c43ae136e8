/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of MPAM's memory-system components: compares what they offer with the manifest, writes every
 * PARTID's settings and reads them back, counts errors, reads monitors. Only the first core accesses the
 * registers during the start, and only the console core afterwards: a register access needs a selection
 * (MPAMCFG_PART_SEL, MSMON_CFG_MON_SEL) that no other core may change in between. On a system without
 * components the functions do nothing. no_mpam.c has the stubs for programs without this driver.
 */
#ifndef BULKHEAD_MPAM_COMPONENTS_H
#define BULKHEAD_MPAM_COMPONENTS_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;

/* Finds and programs all components. Called on the first core, after mpam_detect() and before the pool is
 * sealed. BH_MANIFEST_ERROR_NONE, also if the manifest has no components or firmware keeps MPAM;
 * BH_MANIFEST_ERROR_POOL_EXHAUSTED; BH_MANIFEST_ERROR_MPAM if a component contradicts the manifest, a write
 * does not read back or a component reports an error, each of which is logged. EL2 must not go on after an
 * error. */
enum bh_manifest_error mpam_components_init(void);

/* Enables error interrupts and begins to read monitors. Called on the console core `cpu`, when it takes
 * interrupts. */
void mpam_components_start(const struct cpu *cpu);

/* Handles interrupt `intid` if it is the error interrupt of a component; false if it is not. Called on the
 * console core. */
bool mpam_components_interrupt(uint32_t intid);

/* RARE_ALARM_MONITORS is due: reads error registers and the next monitor, and sets the alarm again. Called
 * on the console core. */
void mpam_components_alarm(void);

/* At the end of a run: reads all monitors and dumps all registers. Called on the console core. */
void mpam_components_end(void);

#ifdef __cplusplus
}
#endif

#endif
