/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Compares what a resource instance offers with what the platform file says of it. The field that differs has
 * the architecture's name.
 */
#ifndef BULKHEAD_CORE_MPAM_DIFFERENCE_H
#define BULKHEAD_CORE_MPAM_DIFFERENCE_H

#include "core/mpam_features.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mpam_difference {
    const char *field; /* register and field, without MPAMF_; NULL: nothing differs */
    uint32_t stated;
    uint32_t found;
};

/* The first field in which `found` (ID registers) differs from `stated` (platform file). More PARTIDs and
 * monitoring groups than stated are no difference, and neither are error registers without a stated
 * interrupt. */
struct mpam_difference mpam_compare(const struct mpam_features *stated, const struct mpam_features *found);

#ifdef __cplusplus
}
#endif

#endif
