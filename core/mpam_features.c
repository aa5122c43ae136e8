/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Decodes ID registers, one control at a time.
 */
#include "core/mpam_features.h"
#include "core/mpam_fraction.h"
#include "core/mpam_registers.h"

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

/* The six-bit fields can state widths up to 63, but the controls have at most 16 bits. */
static uint32_t fraction_bits(uint32_t stated)
{
    return at_most(stated, MPAM_FRACTION_BITS);
}

/* A bitmap that does not fit is not used as a control: its upper portions would never be written, and so
 * would stay open to every PARTID. */
static uint32_t portions(uint32_t stated)
{
    return stated <= MPAM_MAX_PORTIONS ? stated : 0;
}

static void decode_cache(const struct mpam_id_registers *read, struct mpam_features *found)
{
    if (read->idr & MPAMF_IDR_HAS_CPOR_PART)
        found->cache_portions = portions(read->cpor & MPAMF_CPOR_IDR_CPBM_WD);
    if (!(read->idr & MPAMF_IDR_HAS_CCAP_PART))
        return;
    found->capacity_bits = fraction_bits(read->ccap & MPAMF_CCAP_IDR_CMAX_WD);
    if (found->capacity_bits > 0) {
        found->has_cmax = !(read->ccap & MPAMF_CCAP_IDR_NO_CMAX);
        found->has_cmin = read->ccap & MPAMF_CCAP_IDR_HAS_CMIN;
        found->has_soft_cmax = found->has_cmax && (read->ccap & MPAMF_CCAP_IDR_HAS_SOFTLIM);
    }
    if (read->ccap & MPAMF_CCAP_IDR_HAS_CASSOC) {
        found->associativity_bits =
            fraction_bits(read->ccap >> MPAMF_CCAP_IDR_CASSOC_SHIFT & MPAMF_CCAP_IDR_CASSOC_WD);
    }
}

static void decode_bandwidth(const struct mpam_id_registers *read, struct mpam_features *found)
{
    if (!(read->idr & MPAMF_IDR_HAS_MBW_PART))
        return;
    found->bandwidth_bits = fraction_bits(read->mbw & MPAMF_MBW_IDR_BWA_WD);
    if (found->bandwidth_bits > 0) {
        found->has_min = read->mbw & MPAMF_MBW_IDR_HAS_MIN;
        found->has_max = read->mbw & MPAMF_MBW_IDR_HAS_MAX;
        found->has_proportional = read->mbw & MPAMF_MBW_IDR_HAS_PROP;
    }
    found->window_writable = read->mbw & MPAMF_MBW_IDR_WINDWR;
    if (read->mbw & MPAMF_MBW_IDR_HAS_PBM) {
        found->bandwidth_portions = portions(read->mbw >> MPAMF_MBW_IDR_BWPBM_SHIFT & MPAMF_MBW_IDR_BWPBM_WD);
    }
}

static struct mpam_priority_feature priority(uint32_t pri, uint32_t has, uint32_t zero_is_low, uint32_t shift)
{
    struct mpam_priority_feature found = {0};

    if (pri & has) {
        found.bits = at_most(pri >> shift & MPAMF_PRI_IDR_WD, 16);
        found.zero_is_low = pri & zero_is_low;
    }
    return found;
}

static void decode_monitors(const struct mpam_id_registers *read, struct mpam_features *found)
{
    if (!(read->idr & MPAMF_IDR_HAS_MSMON))
        return;
    if (read->msmon & MPAMF_MSMON_IDR_CSU) {
        found->storage_monitors = read->csumon & MPAMF_MON_IDR_NUM_MON;
        found->storage_capture = read->csumon & MPAMF_MON_IDR_HAS_CAPTURE;
    }
    if (read->msmon & MPAMF_MSMON_IDR_MBWU) {
        found->bandwidth_monitors = read->mbwumon & MPAMF_MON_IDR_NUM_MON;
        found->bandwidth_capture = read->mbwumon & MPAMF_MON_IDR_HAS_CAPTURE;
        found->bandwidth_by_direction = read->mbwumon & MPAMF_MBWUMON_IDR_HAS_RWBW;
        found->bandwidth_value_bits = 31;
        if (read->mbwumon & MPAMF_MBWUMON_IDR_HAS_LONG)
            found->bandwidth_value_bits = read->mbwumon & MPAMF_MBWUMON_IDR_LWD ? 63 : 44;
    }
}

struct mpam_features mpam_features_of(const struct mpam_id_registers *read)
{
    struct mpam_features found = {0};
    uint64_t idr = read->idr;

    found.version_major = read->aidr >> MPAMF_AIDR_MAJOR_SHIFT & 0xFu;
    found.version_minor = read->aidr & MPAMF_AIDR_MINOR;
    found.partid_max = (uint32_t)(idr & MPAMF_IDR_PARTID_MAX);
    found.pmg_max = (uint32_t)(idr >> MPAMF_IDR_PMG_MAX_SHIFT & MPAMF_IDR_PMG_MAX);
    found.intpartid_max = found.partid_max;
    if (idr & MPAMF_IDR_HAS_PARTID_NRW) {
        found.narrowing = true;
        found.intpartid_max = at_most(read->partid_nrw & MPAMF_PARTID_NRW_INTPARTID, found.partid_max);
    }
    if ((idr & MPAMF_IDR_EXT) && (idr & MPAMF_IDR_HAS_RIS))
        found.ris_max = (uint32_t)(idr >> MPAMF_IDR_RIS_MAX_SHIFT & MPAMF_IDR_RIS_MAX);
    /* Components without the extended IDR have no bit for the error registers: they always have them. */
    found.has_esr = !(idr & MPAMF_IDR_EXT) || (idr & MPAMF_IDR_HAS_ESR);
    decode_cache(read, &found);
    decode_bandwidth(read, &found);
    if (idr & MPAMF_IDR_HAS_PRI_PART) {
        found.internal = priority(read->pri, MPAMF_PRI_IDR_HAS_INTPRI, MPAMF_PRI_IDR_INTPRI_0_LOW,
                                  MPAMF_PRI_IDR_INTPRI_SHIFT);
        found.downstream = priority(read->pri, MPAMF_PRI_IDR_HAS_DSPRI, MPAMF_PRI_IDR_DSPRI_0_LOW,
                                    MPAMF_PRI_IDR_DSPRI_SHIFT);
    }
    decode_monitors(read, &found);
    return found;
}
