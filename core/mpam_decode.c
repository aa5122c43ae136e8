/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Decodes one register write at a time. A write that selects a PARTID or resource changes no setting.
 */
#include "core/mpam_decode.h"
#include "core/mpam_registers.h"

static bool decode_bitmap(uint32_t offset, uint32_t value, struct mpam_settings *to)
{
    if (offset >= MPAMCFG_CPBM(0) && offset < MPAMCFG_CPBM(MPAM_PORTION_WORDS)) {
        to->cache.word[(offset - MPAMCFG_CPBM(0)) / 4] = value;
        to->asked |= MPAM_CACHE_PORTIONS;
        return true;
    }
    if (offset >= MPAMCFG_MBW_PBM(0) && offset < MPAMCFG_MBW_PBM(MPAM_PORTION_WORDS)) {
        to->bandwidth.word[(offset - MPAMCFG_MBW_PBM(0)) / 4] = value;
        to->asked |= MPAM_BANDWIDTH_PORTIONS;
        return true;
    }
    return false;
}

/* Converts the field to the order of struct mpam_settings, in which a larger priority is served first. */
static uint32_t urgency(uint32_t value, const struct mpam_priority_feature *of)
{
    uint32_t largest = (uint32_t)((UINT64_C(1) << of->bits) - 1);

    return of->zero_is_low ? value & largest : largest - (value & largest);
}

static void decode_priority(const struct mpam_features *of, uint32_t value, struct mpam_settings *to)
{
    if (of->internal.bits > 0) {
        to->asked |= MPAM_INTERNAL_PRIORITY;
        to->internal_priority = urgency(value, &of->internal);
    }
    if (of->downstream.bits > 0) {
        to->asked |= MPAM_DOWNSTREAM_PRIORITY;
        to->downstream_priority = urgency(value >> MPAMCFG_PRI_DSPRI_SHIFT, &of->downstream);
    }
}

static void decode_control(const struct mpam_features *of, uint32_t offset, uint32_t value,
                           struct mpam_settings *to)
{
    uint16_t field = (uint16_t)value;

    switch (offset) {
    case MPAMCFG_CMAX:
        to->asked |= MPAM_CMAX | ((value & MPAMCFG_CMAX_SOFTLIM) != 0 ? MPAM_CMAX_SOFT : 0);
        to->cmax = mpam_limit_of(field, of->capacity_bits);
        break;
    case MPAMCFG_CMIN:
        to->asked |= MPAM_CMIN;
        to->cmin = mpam_guarantee_of(field, of->capacity_bits);
        break;
    case MPAMCFG_CASSOC:
        to->asked |= MPAM_ASSOCIATIVITY;
        to->associativity = mpam_limit_of(field, of->associativity_bits);
        break;
    case MPAMCFG_MBW_MIN:
        to->asked |= MPAM_MBW_MIN;
        to->mbw_min = mpam_guarantee_of(field, of->bandwidth_bits);
        break;
    case MPAMCFG_MBW_MAX:
        to->asked |= MPAM_MBW_MAX | ((value & MPAMCFG_MBW_MAX_HARDLIM) != 0 ? MPAM_MBW_MAX_HARD : 0);
        to->mbw_max = mpam_limit_of(field, of->bandwidth_bits);
        break;
    case MPAMCFG_MBW_PROP:
        if ((value & MPAMCFG_MBW_PROP_EN) != 0) {
            to->asked |= MPAM_PROPORTIONAL;
            to->stride = (value & MPAMCFG_MBW_PROP_STRIDEM1) + 1;
        }
        break;
    case MPAMCFG_MBW_WINWD:
        to->asked |= MPAM_WINDOW;
        to->window_us = value >> MPAMCFG_MBW_WINWD_US_SHIFT & UINT16_MAX;
        break;
    case MPAMCFG_PRI:
        decode_priority(of, value, to);
        break;
    default:
        break;
    }
}

void mpam_settings_decode(const struct mpam_features *of, const struct mpam_writes *writes,
                          struct mpam_settings *to)
{
    *to = (struct mpam_settings){0};
    for (uint32_t i = 0; i < writes->count; i++) {
        const struct mpam_write *one = &writes->write[i];
        if (!decode_bitmap(one->offset, one->value, to))
            decode_control(of, one->offset, one->value, to);
    }
}
