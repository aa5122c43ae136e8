/* SPDX-License-Identifier: Apache-2.0
 *
 * The performance monitors of the executing core, of which EL2 keeps what it needs (DDI 0487, D13): one
 * counter or two, for an event each, that interrupt when they overflow. bandwidth.h uses them. Of the others
 * guests have what guest_pmu.h gives them.
 */
#ifndef BULKHEAD_PMU_H
#define BULKHEAD_PMU_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stops and clears all counters of this core, whatever a loader left, and keeps one for each of `events`,
 * 0: none, which counts at EL0, EL1 and EL2, and `backup_events` after the first, one more. *mdcr: the bits
 * of MDCR_EL2 that go with it, which the caller must write before the first start. `given`: a guest is to
 * have the others. False: the core has too few counters, or does not count this event. */
bool pmu_init(struct pmu *pmu, const uint32_t events[PMU_COUNTERS], uint32_t backup_events, bool given,
              uint64_t *mdcr);

/* ID_AA64DFR0_EL1.PMUVer; 0: there are no monitors as the architecture has them. */
uint32_t pmu_version(void);

/* What PMXEVTYPER_EL0 and PMXEVCNTR_EL0 are from now on. Whoever selects another counter than that of `struct
 * pmu` selects that one again. */
void pmu_select(uint32_t counter);

/* Width of the counters. */
uint32_t pmu_counter_bits(void);

/* The counters go on from `values`. Their overflow interrupts. On the core of `pmu`, as the next. */
void pmu_start(const struct pmu *pmu, const uint64_t values[PMU_COUNTERS]);

/* A reason for the overflow interrupt is a counter of `pmu`. */
bool pmu_has_overflowed(const struct pmu *pmu);

/* No event is counted until pmu_resume(); what has overflowed still interrupts. */
void pmu_pause(const struct pmu *pmu);
void pmu_resume(const struct pmu *pmu);

/* The counters stand at `values`, and their interrupt is withdrawn. */
void pmu_stop(const struct pmu *pmu, uint64_t values[PMU_COUNTERS]);

#ifdef __cplusplus
}
#endif

#endif
