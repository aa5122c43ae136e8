/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Register writes back to settings: what an instance makes of what was asked for. `check` and `plan` print
 * it, from the same writes that EL2 makes.
 */
#ifndef BULKHEAD_CORE_MPAM_DECODE_H
#define BULKHEAD_CORE_MPAM_DECODE_H

#include "core/mpam_settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The settings that `writes` of this instance stand for. `asked` has every control that is written; a
 * proportional share only where it is enabled. Shares have the value of the field (mpam_fraction.h). */
void mpam_settings_decode(const struct mpam_features *of, const struct mpam_writes *writes,
                          struct mpam_settings *to);

#ifdef __cplusplus
}
#endif

#endif
