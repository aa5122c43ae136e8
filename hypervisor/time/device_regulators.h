/* SPDX-License-Identifier: Apache-2.0
 *
 * Regulators of the interconnect in front of devices that domains have: the manifest's rates, which admission
 * charges.
 */
#ifndef BULKHEAD_DEVICE_REGULATORS_H
#define BULKHEAD_DEVICE_REGULATORS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets all regulators, before any domain runs. The manifest has been checked, and their registers are mapped.
 * Returns the place in the manifest of the first regulator whose registers do not hold what was written; 0:
 * all hold it. */
uint32_t device_regulators_init(void);

#ifdef __cplusplus
}
#endif

#endif
