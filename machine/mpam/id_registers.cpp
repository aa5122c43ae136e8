// SPDX-License-Identifier: Apache-2.0
// Fields according to IHI 0099, 9.5. Version 1.0 has none of the fields that 1.1 introduced.
#include "machine/mpam/id_registers.h"

#include <algorithm>

#include "core/mpam_registers.h"

namespace bulkhead::machine::mpam {

namespace {

constexpr std::uint32_t product = 1U << 20U; // MPAMF_IIDR: no implementer

bool has_monitors(const resource_settings &of)
{
    return of.storage_monitors || of.bandwidth_monitors;
}

std::uint64_t idr(const system_settings &whole, const component_settings &of, const resource_settings *own)
{
    std::uint64_t value = whole.partids - 1;
    value |= std::uint64_t{whole.monitor_groups - 1} << MPAMF_IDR_PMG_MAX_SHIFT;
    if (of.has_ris()) {
        value |= MPAMF_IDR_EXT | std::uint64_t{of.resources.size() - 1} << MPAMF_IDR_RIS_MAX_SHIFT;
    }
    if (own == nullptr) {
        return value; // every HAS_ field of an undefined instance is 0
    }
    if (of.has_ris()) {
        value |= MPAMF_IDR_HAS_RIS | MPAMF_IDR_HAS_ESR | MPAMF_IDR_HAS_EXTD_ESR | MPAMF_IDR_HAS_ENDIS;
    }
    value |= of.internal_partids != 0 ? MPAMF_IDR_HAS_PARTID_NRW : 0;
    value |= own->portions != 0 ? MPAMF_IDR_HAS_CPOR_PART : 0;
    value |= own->capacity || own->associativity ? MPAMF_IDR_HAS_CCAP_PART : 0;
    value |= own->bandwidth ? MPAMF_IDR_HAS_MBW_PART : 0;
    value |= own->priority ? MPAMF_IDR_HAS_PRI_PART : 0;
    value |= has_monitors(*own) ? MPAMF_IDR_HAS_MSMON : 0;
    return value;
}

std::uint32_t ccap(const resource_settings &own)
{
    std::uint32_t value = 0;
    if (own.capacity) {
        value |= own.capacity->bits;
        value |= own.capacity->maximum ? 0 : MPAMF_CCAP_IDR_NO_CMAX;
        value |= own.capacity->minimum ? MPAMF_CCAP_IDR_HAS_CMIN : 0;
        value |= own.capacity->soft ? MPAMF_CCAP_IDR_HAS_SOFTLIM : 0;
    } else if (own.associativity) {
        value |= MPAMF_CCAP_IDR_NO_CMAX;
    }
    if (own.associativity) {
        value |= own.associativity->bits << MPAMF_CCAP_IDR_CASSOC_SHIFT | MPAMF_CCAP_IDR_HAS_CASSOC;
    }
    return value;
}

std::uint32_t mbw(const bandwidth_settings &own)
{
    std::uint32_t value = own.bits;
    value |= own.min ? MPAMF_MBW_IDR_HAS_MIN : 0;
    value |= own.max ? MPAMF_MBW_IDR_HAS_MAX : 0; // MAX_LIM 0: soft and hard
    value |= own.portions != 0 ? MPAMF_MBW_IDR_HAS_PBM | own.portions << MPAMF_MBW_IDR_BWPBM_SHIFT : 0;
    value |= own.proportional ? MPAMF_MBW_IDR_HAS_PROP : 0;
    value |= own.window_writable ? MPAMF_MBW_IDR_WINDWR : 0;
    return value;
}

std::uint32_t pri(const priority_settings &own)
{
    std::uint32_t value = 0;
    if (own.internal != 0) {
        value |= MPAMF_PRI_IDR_HAS_INTPRI | own.internal << MPAMF_PRI_IDR_INTPRI_SHIFT;
        value |= own.zero_is_low ? MPAMF_PRI_IDR_INTPRI_0_LOW : 0;
    }
    if (own.downstream != 0) {
        value |= MPAMF_PRI_IDR_HAS_DSPRI | own.downstream << MPAMF_PRI_IDR_DSPRI_SHIFT;
        value |= own.zero_is_low ? MPAMF_PRI_IDR_DSPRI_0_LOW : 0;
    }
    return value;
}

std::uint32_t msmon(const component_settings &of, const resource_settings &own)
{
    std::uint32_t value = 0;
    value |= own.storage_monitors ? MPAMF_MSMON_IDR_CSU : 0;
    value |= own.bandwidth_monitors ? MPAMF_MSMON_IDR_MBWU : 0;
    const bool captures = std::ranges::any_of(of.resources, [](const resource_settings &one) {
        return (one.storage_monitors && one.storage_monitors->capture) ||
               (one.bandwidth_monitors && one.bandwidth_monitors->capture);
    });
    value |= captures ? MPAMF_MSMON_IDR_LOCAL_CAPT : 0;
    if (of.has_ris()) {
        value |= MPAMF_MSMON_IDR_OFLOW_SR;
        value |= of.overflow_interrupt == 0 ? MPAMF_MSMON_IDR_NO_OFLOW : 0;
    }
    return value;
}

std::uint32_t mbwumon(const component_settings &of, const bandwidth_monitor_settings &own)
{
    std::uint32_t value = own.count | own.scale << MPAMF_MBWUMON_IDR_SCALE;
    value |= own.capture ? MPAMF_MON_IDR_HAS_CAPTURE : 0;
    if (of.has_ris()) {
        value |= MPAMF_MBWUMON_IDR_HAS_OFSR;
        value |= own.by_direction ? MPAMF_MBWUMON_IDR_HAS_RWBW : 0;
        value |= own.bits > 31 ? MPAMF_MBWUMON_IDR_HAS_LONG : 0;
        value |= own.bits == 63 ? MPAMF_MBWUMON_IDR_LWD : 0;
    }
    return value;
}

std::uint32_t of_instance(const component_settings &of, const resource_settings &own, std::uint64_t offset)
{
    switch (offset) {
    case MPAMF_CPOR_IDR:
        return own.portions;
    case MPAMF_CCAP_IDR:
        return ccap(own);
    case MPAMF_MBW_IDR:
        return own.bandwidth ? mbw(*own.bandwidth) : 0;
    case MPAMF_PRI_IDR:
        return own.priority ? pri(*own.priority) : 0;
    case MPAMF_MSMON_IDR:
        return has_monitors(own) ? msmon(of, own) : 0;
    case MPAMF_CSUMON_IDR:
        return own.storage_monitors ? own.storage_monitors->count | MPAMF_CSUMON_IDR_CSU_RO |
                                          (own.storage_monitors->capture ? MPAMF_MON_IDR_HAS_CAPTURE : 0)
                                    : 0;
    case MPAMF_MBWUMON_IDR:
        return own.bandwidth_monitors ? mbwumon(of, *own.bandwidth_monitors) : 0;
    default:
        return 0;
    }
}

} // namespace

std::uint32_t id_register(const system_settings &whole, const component_settings &of, std::uint32_t ris,
                          std::uint64_t offset)
{
    const resource_settings *const own = ris < of.resources.size() ? &of.resources[ris] : nullptr;
    switch (offset) {
    case MPAMF_IDR:
        return static_cast<std::uint32_t>(idr(whole, of, own));
    case MPAMF_IDR + 4:
        return static_cast<std::uint32_t>(idr(whole, of, own) >> 32U);
    case MPAMF_IIDR:
        return product;
    case MPAMF_AIDR:
        return 1U << MPAMF_AIDR_MAJOR_SHIFT | (of.has_ris() ? 1 : 0);
    case MPAMF_PARTID_NRW_IDR:
        return of.internal_partids != 0 ? of.internal_partids - 1 : 0;
    default:
        return own != nullptr ? of_instance(of, *own, offset) : 0;
    }
}

} // namespace bulkhead::machine::mpam
