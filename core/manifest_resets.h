/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The manifest's resets of devices.
 */
#ifndef BULKHEAD_CORE_MANIFEST_RESETS_H
#define BULKHEAD_CORE_MANIFEST_RESETS_H

#include "core/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Physical address of the register that holds a device in reset. `reset->page` is below
 * BH_MAX_RESET_PAGES. */
uint64_t manifest_reset_pa(const struct manifest_header *manifest, const struct manifest_reset *reset);

#ifdef __cplusplus
}
#endif

#endif
