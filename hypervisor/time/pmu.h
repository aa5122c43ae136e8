/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the performance monitors of the executing core (DDI 0487, D13). EL2 reserves one or two counters,
 * one event each, which interrupt when they overflow; bandwidth.h uses them. guest_pmu.h gives the other
 * counters to guests.
 */
#ifndef BULKHEAD_PMU_H
#define BULKHEAD_PMU_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stops and clears all counters of this core, whatever a loader has left, and reserves one for each of
 * `events` (0: none). They count at EL0, EL1 and EL2. If `backup_events` is not 0 and there is one event, a
 * second counter is reserved that overflows `backup_events` events after the first. *mdcr: bits of MDCR_EL2
 * that the caller must write before the first start. `given`: a guest is to have the other counters. Returns
 * false if the core has too few counters or cannot count an event. */
bool pmu_init(struct pmu *pmu, const uint32_t events[PMU_COUNTERS], uint32_t backup_events, bool given,
              uint64_t *mdcr);

/* ID_AA64DFR0_EL1.PMUVer; 0: no monitors as defined by the architecture. */
uint32_t pmu_version(void);

/* Selects the counter that PMXEVTYPER_EL0 and PMXEVCNTR_EL0 access. Code that selects another counter than
 * that of `struct pmu` must select that one again afterwards. */
void pmu_select(uint32_t counter);

/* Width of the counters in bits. */
uint32_t pmu_counter_bits(void);

/* Starts the counters from `values`; their overflow interrupts. This and the following functions are called
 * on the core of `pmu`. */
void pmu_start(const struct pmu *pmu, const uint64_t values[PMU_COUNTERS]);

/* True if a counter of `pmu` has overflowed. */
bool pmu_has_overflowed(const struct pmu *pmu);

/* Stop counting until pmu_resume(); a counter that has overflowed still interrupts. */
void pmu_pause(const struct pmu *pmu);
void pmu_resume(const struct pmu *pmu);

/* Stops the counters, reads them into `values`, and clears their overflow. */
void pmu_stop(const struct pmu *pmu, uint64_t values[PMU_COUNTERS]);

#ifdef __cplusplus
}
#endif

#endif
