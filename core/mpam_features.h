/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What one resource instance of a memory-system component offers, decoded from its ID registers. A component
 * without RIS counts as one instance. Values of ID registers are checked here and nowhere else: a fraction
 * has 16 bits at most; a control without bits, or with more portions than MPAM_MAX_PORTIONS, counts as
 * absent.
 */
#ifndef BULKHEAD_CORE_MPAM_FEATURES_H
#define BULKHEAD_CORE_MPAM_FEATURES_H

#include "core/mpam_portions.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ID registers as read from the feature page while the instance is selected. The upper half of `idr` is 0 if
 * MPAMF_IDR.EXT is 0. Registers that MPAMF_IDR says are absent are ignored. */
struct mpam_id_registers {
    uint64_t idr;
    uint32_t aidr;
    uint32_t cpor;
    uint32_t ccap;
    uint32_t mbw;
    uint32_t pri;
    uint32_t partid_nrw;
    uint32_t msmon;
    uint32_t csumon;
    uint32_t mbwumon;
};

struct mpam_priority_feature {
    uint32_t bits; /* 0: no such control */
    bool zero_is_low;
};

struct mpam_features {
    uint32_t version_major; /* of MPAMF_AIDR: 1.0 has no RIS, no CMIN, no CASSOC */
    uint32_t version_minor;
    uint32_t partid_max; /* largest PARTID, not their number */
    uint32_t pmg_max;
    uint32_t ris_max; /* largest resource instance */
    uint32_t intpartid_max;
    bool narrowing; /* PARTIDs are mapped to internal ones, up to intpartid_max */

    uint32_t cache_portions; /* bits of MPAMCFG_CPBM; 0: no such control */
    uint32_t capacity_bits;  /* width of CMAX and CMIN */
    bool has_cmax;
    bool has_cmin;
    bool has_soft_cmax;
    uint32_t associativity_bits; /* width of CASSOC; 0: no such control */

    uint32_t bandwidth_bits; /* width of MBW_MIN, MBW_MAX and of MBW_PROP's stride */
    bool has_min;
    bool has_max;
    bool has_proportional;
    bool window_writable;        /* MPAMCFG_MBW_WINWD takes a window for each partition */
    uint32_t bandwidth_portions; /* bits of MPAMCFG_MBW_PBM; 0: no such control */

    struct mpam_priority_feature internal;
    struct mpam_priority_feature downstream;

    uint32_t storage_monitors; /* CSU */
    bool storage_capture;
    uint32_t bandwidth_monitors; /* MBWU */
    bool bandwidth_capture;
    bool bandwidth_by_direction;   /* a filter tells reads from writes */
    uint32_t bandwidth_value_bits; /* 31, or 44 or 63 of the long counter */

    bool has_esr; /* MPAMF_ECR and MPAMF_ESR */
};

/* Decodes `read`; any value is accepted. */
struct mpam_features mpam_features_of(const struct mpam_id_registers *read);

#ifdef __cplusplus
}
#endif

#endif
