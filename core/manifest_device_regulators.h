/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The manifest's regulators in front of devices that domains have.
 */
#ifndef BULKHEAD_CORE_MANIFEST_DEVICE_REGULATORS_H
#define BULKHEAD_CORE_MANIFEST_DEVICE_REGULATORS_H

#include "core/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Physical address of a regulator's registers; 0: there is none. `number`: below BH_MAX_DEVICE_REGULATORS. */
uint64_t manifest_device_regulator_page(const struct manifest_device_regulators *all, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
