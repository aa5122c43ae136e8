/* SPDX-License-Identifier: Apache-2.0
 *
 * Regulators of the interconnect in front of devices that domains have: the manifest's rates, which admission
 * charges, and the rates of the devices that the regulator of cores changes (regulation.h).
 */
#ifndef BULKHEAD_DEVICE_REGULATORS_H
#define BULKHEAD_DEVICE_REGULATORS_H

#include "core/regulator.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets all regulators, before any domain runs. The manifest has been checked, and their registers are mapped.
 * Returns the place in the manifest of the first regulator whose registers do not hold what was written; 0:
 * all hold it. */
uint32_t device_regulators_init(void);

/* Sets the rates of the devices that the regulator of cores changes to their budgets of the interval that has
 * begun, and returns the sum of these budgets. Called on one core at a time, after a step. */
uint64_t device_regulators_set(const uint64_t budgets[REGULATOR_MAX_CORES], uint64_t interval_ns);

#ifdef __cplusplus
}
#endif

#endif
