/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Decodes register writes into settings: what a partition has after rounding. `check` and `plan` print these
 * settings, decoded from the same writes that EL2 makes.
 */
#ifndef BULKHEAD_CORE_MPAM_DECODE_H
#define BULKHEAD_CORE_MPAM_DECODE_H

#include "core/mpam_settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes `writes` for an instance with features `of` into `to`. `asked` has every control that is written,
 * and MPAM_PROPORTIONAL only if EN is set. Shares are what the fields mean (mpam_limit_of(),
 * mpam_guarantee_of()).
 */
void mpam_settings_decode(const struct mpam_features *of, const struct mpam_writes *writes,
                          struct mpam_settings *to);

#ifdef __cplusplus
}
#endif

#endif
