/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Whether a resource instance is what the platform file says: the first thing that differs. What differs is
 * named as the architecture names the field.
 */
#ifndef BULKHEAD_CORE_MPAM_DIFFERENCE_H
#define BULKHEAD_CORE_MPAM_DIFFERENCE_H

#include "core/mpam_features.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mpam_difference {
    const char *field; /* NULL: there is none */
    uint32_t stated;
    uint32_t found;
};

/* `stated` by the platform file, `found` in the ID registers. PARTIDs and monitoring groups may be more than
 * stated, and error registers may be there without an interrupt; all else must be equal. */
struct mpam_difference mpam_compare(const struct mpam_features *stated, const struct mpam_features *found);

#ifdef __cplusplus
}
#endif

#endif
