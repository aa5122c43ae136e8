// SPDX-License-Identifier: Apache-2.0
// Fields and the mapping of virtual PARTIDs; see the header.
#include "machine/hosted/partition_registers.h"

#include <algorithm>

namespace bulkhead::machine::hosted {

namespace {

constexpr std::uint64_t enable = std::uint64_t{1} << 63U; // MPAMEN
constexpr std::uint64_t labels = 0xFFFF'FFFF'FFFF;        // PARTID and PMG of instructions and of data
// MPAM2_EL2
constexpr std::uint64_t trap_ids = std::uint64_t{1} << 58U;
constexpr std::uint64_t trap_mpam0 = std::uint64_t{1} << 49U;
constexpr std::uint64_t trap_mpam1 = std::uint64_t{1} << 48U;
// MPAMHCR_EL2
constexpr std::uint64_t el0_virtual = 1U << 0U;
constexpr std::uint64_t el1_virtual = 1U << 1U;
constexpr std::uint64_t hcr_trap_ids = std::uint64_t{1} << 31U;
// MPAMIDR_EL1
constexpr std::uint64_t has_hcr = 1U << 17U;
constexpr std::uint32_t maps_shift = 18;
constexpr std::uint32_t group_shift = 32;
constexpr std::uint64_t has_tidr = std::uint64_t{1} << 58U;

constexpr std::uint32_t version_shift = 40;  // ID_AA64PFR0_EL1.MPAM
constexpr std::uint32_t fraction_shift = 16; // ID_AA64PFR1_EL1.MPAM_frac

bool is_newer(const mpam::system_settings &has)
{
    return std::ranges::any_of(has.components, [](const auto &one) { return one.has_ris(); });
}

} // namespace

std::uint64_t partition_registers::id_fields(const mpam::system_settings &has, sysreg_id id)
{
    switch (id) {
    case SYSREG_ID_ID_AA64PFR0_EL1:
        return std::uint64_t{1} << version_shift;
    case SYSREG_ID_ID_AA64PFR1_EL1:
        return is_newer(has) ? std::uint64_t{1} << fraction_shift : 0;
    default:
        return 0;
    }
}

std::uint64_t partition_registers::ids() const
{
    std::uint64_t value = has_.partids - 1;
    value |= std::uint64_t{has_.monitor_groups - 1} << group_shift;
    value |= is_newer(has_) ? has_tidr : 0;
    if (has_.virtual_partids != 0) {
        value |= has_hcr | std::uint64_t{has_.virtual_partids / 4 - 1} << maps_shift;
    }
    return value;
}

bool partition_registers::enabled() const
{
    return (mpam2_ & enable) != 0;
}

// A PARTID that is too large is taken for the default one.
mpam_label partition_registers::label(std::uint64_t partid, std::uint64_t group) const
{
    const auto wanted = static_cast<std::uint16_t>(partid);
    const auto wanted_group = static_cast<std::uint8_t>(group);
    if (!enabled() || wanted >= has_.partids) {
        return {};
    }
    return {wanted, wanted_group < has_.monitor_groups ? wanted_group : std::uint8_t{0}};
}

// Virtual PARTIDs beyond the entries wrap around. A PARTID whose entry is not valid uses entry 0; if entry 0
// is not valid either, it is the default PARTID.
mpam_label partition_registers::mapped(std::uint64_t partid, std::uint64_t group) const
{
    if ((hcr_ & el1_virtual) == 0) {
        return label(partid, group);
    }
    std::uint32_t entry = static_cast<std::uint16_t>(partid) % has_.virtual_partids;
    entry = (valid_ >> entry & 1U) != 0 ? entry : 0;
    if ((valid_ >> entry & 1U) == 0) {
        return {};
    }
    return label(maps_[entry / 4] >> entry % 4 * 16, group);
}

void partition_registers::enter_el1()
{
    core_.set_label(mapped(mpam1_ >> 16U, mpam1_ >> 40U), mapped(mpam1_, mpam1_ >> 32U));
}

std::optional<std::uint64_t> partition_registers::read(sysreg_id id) const
{
    switch (id) {
    case SYSREG_ID_MPAMIDR_EL1:
        return ids();
    case SYSREG_ID_MPAM2_EL2:
        return mpam2_;
    case SYSREG_ID_MPAM1_EL1:
        return mpam1_ | (mpam2_ & enable);
    case SYSREG_ID_MPAM0_EL1:
        return mpam0_;
    case SYSREG_ID_MPAMHCR_EL2:
        return hcr_;
    case SYSREG_ID_MPAMVPMV_EL2:
        return valid_;
    default:
        break;
    }
    if (id >= SYSREG_ID_MPAMVPM0_EL2 && id < SYSREG_ID_MPAMVPM0_EL2 + most_maps) {
        return maps_[static_cast<std::size_t>(id - SYSREG_ID_MPAMVPM0_EL2)];
    }
    return std::nullopt;
}

bool partition_registers::write(sysreg_id id, std::uint64_t value)
{
    switch (id) {
    case SYSREG_ID_MPAMIDR_EL1:
        return true;
    case SYSREG_ID_MPAM2_EL2:
        mpam2_ = value & (enable | labels | trap_mpam0 | trap_mpam1 | (ids() & has_tidr));
        enter_el2();
        return true;
    case SYSREG_ID_MPAM1_EL1:
        mpam1_ = value & labels;
        return true;
    case SYSREG_ID_MPAM0_EL1:
        mpam0_ = value & labels;
        return true;
    case SYSREG_ID_MPAMHCR_EL2:
        hcr_ = has_.virtual_partids != 0 ? value & (el0_virtual | el1_virtual | hcr_trap_ids) : 0;
        return true;
    case SYSREG_ID_MPAMVPMV_EL2:
        valid_ = value & ((std::uint64_t{1} << has_.virtual_partids) - 1);
        return true;
    default:
        break;
    }
    if (id >= SYSREG_ID_MPAMVPM0_EL2 && id < SYSREG_ID_MPAMVPM0_EL2 + most_maps) {
        const auto number = static_cast<std::size_t>(id - SYSREG_ID_MPAMVPM0_EL2);
        maps_[number] = number < has_.virtual_partids / 4 ? value : 0;
        return true;
    }
    return false;
}

bool partition_registers::traps_from_guest(sysreg_id id) const
{
    switch (id) {
    case SYSREG_ID_MPAMIDR_EL1:
        return (hcr_ & hcr_trap_ids) != 0 || (mpam2_ & trap_ids) != 0;
    case SYSREG_ID_MPAM1_EL1:
        return (mpam2_ & trap_mpam1) != 0;
    default:
        return (mpam2_ & trap_mpam0) != 0;
    }
}

std::uint64_t partition_registers::read_by_guest(sysreg_id id) const
{
    return read(id).value_or(0);
}

void partition_registers::write_by_guest(sysreg_id id, std::uint64_t value)
{
    write(id, value);
    enter_el1();
}

} // namespace bulkhead::machine::hosted
