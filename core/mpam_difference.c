/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A table with one row for each compared field.
 */
#include "core/mpam_difference.h"
#include <stddef.h>

struct row {
    const char *field;
    uint32_t stated;
    uint32_t found;
    bool at_least; /* the hardware may have more than the manifest states */
};

struct mpam_difference mpam_compare(const struct mpam_features *stated, const struct mpam_features *found)
{
    const struct mpam_difference none = {0};
    /* With narrowing the stated number is that of internal PARTIDs; without narrowing each PARTID is an
     * internal PARTID. */
    bool narrows = stated->narrowing || found->narrowing;
    const struct row rows[] = {
        {"AIDR.ArchMajorRev", stated->version_major, found->version_major, false},
        {"AIDR.ArchMinorRev", stated->version_minor, found->version_minor, false},
        {"IDR.PARTID_MAX", stated->partid_max, found->partid_max, true},
        {"IDR.PMG_MAX", stated->pmg_max, found->pmg_max, true},
        {"IDR.RIS_MAX", stated->ris_max, found->ris_max, false},
        {"IDR.HAS_PARTID_NRW", stated->narrowing, found->narrowing, false},
        {"PARTID_NRW_IDR.INTPARTID_MAX", stated->intpartid_max, found->intpartid_max, !narrows},
        {"IDR.HAS_ESR", stated->has_esr, found->has_esr, true},
        {"CPOR_IDR.CPBM_WD", stated->cache_portions, found->cache_portions, false},
        {"CCAP_IDR.CMAX_WD", stated->capacity_bits, found->capacity_bits, false},
        {"CCAP_IDR.CMAX", stated->has_cmax, found->has_cmax, false},
        {"CCAP_IDR.HAS_CMIN", stated->has_cmin, found->has_cmin, false},
        {"CCAP_IDR.HAS_CMAX_SOFTLIM", stated->has_soft_cmax, found->has_soft_cmax, false},
        {"CCAP_IDR.CASSOC_WD", stated->associativity_bits, found->associativity_bits, false},
        {"MBW_IDR.BWA_WD", stated->bandwidth_bits, found->bandwidth_bits, false},
        {"MBW_IDR.HAS_MIN", stated->has_min, found->has_min, false},
        {"MBW_IDR.HAS_MAX", stated->has_max, found->has_max, false},
        {"MBW_IDR.HAS_PROP", stated->has_proportional, found->has_proportional, false},
        {"MBW_IDR.WINDWR", stated->window_writable, found->window_writable, false},
        {"MBW_IDR.BWPBM_WD", stated->bandwidth_portions, found->bandwidth_portions, false},
        {"PRI_IDR.INTPRI_WD", stated->internal.bits, found->internal.bits, false},
        {"PRI_IDR.INTPRI_0_IS_LOW", stated->internal.zero_is_low, found->internal.zero_is_low, false},
        {"PRI_IDR.DSPRI_WD", stated->downstream.bits, found->downstream.bits, false},
        {"PRI_IDR.DSPRI_0_IS_LOW", stated->downstream.zero_is_low, found->downstream.zero_is_low, false},
        {"CSUMON_IDR.NUM_MON", stated->storage_monitors, found->storage_monitors, false},
        {"CSUMON_IDR.HAS_CAPTURE", stated->storage_capture, found->storage_capture, false},
        {"MBWUMON_IDR.NUM_MON", stated->bandwidth_monitors, found->bandwidth_monitors, false},
        {"MBWUMON_IDR.HAS_CAPTURE", stated->bandwidth_capture, found->bandwidth_capture, false},
        {"MBWUMON_IDR.HAS_RWBW", stated->bandwidth_by_direction, found->bandwidth_by_direction, false},
        {"MBWUMON_IDR.LWD", stated->bandwidth_value_bits, found->bandwidth_value_bits, false},
    };

    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].at_least ? rows[i].found < rows[i].stated : rows[i].found != rows[i].stated) {
            return (struct mpam_difference){rows[i].field, rows[i].stated, rows[i].found};
        }
    }
    return none;
}
