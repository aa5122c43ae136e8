/* SPDX-License-Identifier: Apache-2.0
 *
 * MPAM's memory-system components: what they offer is compared with the manifest, every PARTID's settings are
 * written and read back, errors are counted, monitors read. Registers are the first core's at the start and
 * the console core's after it, so that nobody else moves a selection meanwhile. Systems without components
 * have nothing of it. In programs without the driver: no_mpam.c.
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

/* Sets everything up, after mpam_detect(): BH_MANIFEST_ERROR_NONE; or why EL2 must not go on: the pool is
 * exhausted, or a component is not what the manifest says, which is logged. First core, before the pool is
 * sealed. */
enum bh_manifest_error mpam_components_init(void);

/* Interrupts of errors, and reads of monitors from now on. On the console core, when it takes interrupts. */
void mpam_components_start(const struct cpu *cpu);

/* A component reports an error. False: the interrupt is none's. On the console core. */
bool mpam_components_interrupt(uint32_t intid);

/* MACHINE_ALARM_MONITORS: reads the next monitor. On the console core. */
void mpam_components_alarm(void);

/* The run is over: all monitors once more, and all registers. On the console core. */
void mpam_components_end(void);

#ifdef __cplusplus
}
#endif

#endif
