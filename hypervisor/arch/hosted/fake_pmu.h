/* SPDX-License-Identifier: Apache-2.0
 *
 * Performance monitors for unit tests, on top of fake_registers.h: registers of PMUv3 as EL2 sees them, for
 * each core, and events that a test causes. Written from DDI 0487, D13, independently of the drivers.
 */
#ifndef BULKHEAD_FAKE_PMU_H
#define BULKHEAD_FAKE_PMU_H

#include "fake_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives each core `counters` 32-bit counters (1 to 31), PMUVer `version`, every event, and the overflow line
 * `intid`, which is a private interrupt of fake_gic.h. Called after fake_reset(). */
void fake_pmu_init(uint32_t counters, uint32_t version, uint32_t intid);

enum fake_level { FAKE_EL0, FAKE_EL1, FAKE_EL2 };

/* The executing core causes `count` events of number `event` at this exception level; counters that are
 * enabled for the event count them. */
void fake_pmu_cause(uint32_t event, enum fake_level level, uint32_t count);

/* Counter n of the executing core, and its event, accessed without PMSELR_EL0. */
uint64_t fake_pmu_counter(uint32_t n);
uint32_t fake_pmu_type(uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
