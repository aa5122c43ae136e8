// SPDX-License-Identifier: Apache-2.0
// Changes of list registers by the guest's accesses (IHI 0069, 4.8 and chapter 5).
#include "machine/devices/gic_virtual_interface.h"

#include <bit>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint64_t pending = std::uint64_t{1} << 62;
constexpr std::uint64_t active = std::uint64_t{1} << 63;
constexpr std::uint64_t hardware = std::uint64_t{1} << 61;
constexpr std::uint64_t in_group1 = std::uint64_t{1} << 60;
constexpr std::uint64_t eoi = std::uint64_t{1} << 41;
constexpr std::uint64_t hcr_enable = 1;
constexpr std::uint64_t vmcr_group0_is_fiq = 1u << 3;
constexpr std::uint64_t vmcr_eoi_mode = 1u << 9;
constexpr unsigned hcr_count_shift = 27;
constexpr unsigned priority_shift = 8 - gic_virtual_interface::priority_bits;
constexpr std::uint32_t first_special = 1020;

std::uint32_t intid_of(std::uint64_t lr)
{
    return static_cast<std::uint32_t>(lr);
}

std::uint32_t priority_of(std::uint64_t lr)
{
    return static_cast<std::uint32_t>(lr >> 48) & 0xF8;
}

std::uint32_t physical_of(std::uint64_t lr)
{
    return static_cast<std::uint32_t>(lr >> 32) & 0x3FF;
}

} // namespace

std::uint64_t gic_virtual_interface::ended() const
{
    std::uint64_t mask = 0;
    for (std::uint32_t n = 0; n < count_; ++n) {
        mask |= (lr[n] & (pending | active | hardware | eoi)) == eoi ? std::uint64_t{1} << n : 0;
    }
    return mask;
}

std::uint64_t gic_virtual_interface::empty() const
{
    std::uint64_t mask = 0;
    for (std::uint32_t n = 0; n < count_; ++n) {
        mask |= (lr[n] & (pending | active)) == 0 ? std::uint64_t{1} << n : 0;
    }
    return mask & ~ended();
}

std::uint64_t gic_virtual_interface::maintenance() const
{
    if ((hcr & hcr_enable) == 0) {
        return 0;
    }
    unsigned valid = 0;
    unsigned waiting = 0;
    for (const std::uint64_t entry : lr) {
        valid += (entry & (pending | active)) != 0 ? 1 : 0;
        waiting += (entry & (pending | active)) == pending ? 1 : 0;
    }
    std::uint64_t status = ended() != 0 ? 1 : 0;
    status |= (hcr & 2) != 0 && valid <= 1 ? 2 : 0;
    status |= (hcr & 4) != 0 && (hcr >> hcr_count_shift & 0x1F) != 0 ? 4 : 0;
    status |= (hcr & 8) != 0 && waiting == 0 ? 8 : 0;
    status |= (hcr & 0x10) != 0 && (vmcr & 1) != 0 ? 0x10 : 0; // Group 0 on, off; Group 1 on, off
    status |= (hcr & 0x20) != 0 && (vmcr & 1) == 0 ? 0x20 : 0;
    status |= (hcr & 0x40) != 0 && (vmcr & 2) != 0 ? 0x40 : 0;
    status |= (hcr & 0x80) != 0 && (vmcr & 2) == 0 ? 0x80 : 0;
    return status;
}

std::uint32_t gic_virtual_interface::running_priority() const
{
    return active_priorities == 0
               ? 0xFF
               : static_cast<std::uint32_t>(std::countr_zero(active_priorities)) << priority_shift;
}

std::uint64_t gic_virtual_interface::irq_groups() const
{
    return one_for_both_ && (vmcr & vmcr_group0_is_fiq) == 0 ? group0 | group1 : group1;
}

std::uint32_t gic_virtual_interface::best(std::uint64_t of_groups) const
{
    if ((hcr & hcr_enable) == 0) {
        return count_;
    }
    const std::uint64_t groups = vmcr & of_groups;
    const auto mask = static_cast<std::uint32_t>(vmcr >> 24 & 0xFF);
    std::uint32_t found = count_;
    std::uint32_t lowest = mask < running_priority() ? mask : running_priority();
    for (std::uint32_t n = 0; n < count_; ++n) {
        const std::uint64_t group = (lr[n] & in_group1) != 0 ? group1 : group0;
        if ((lr[n] & (pending | active)) == pending && (groups & group) != 0 && priority_of(lr[n]) < lowest) {
            lowest = priority_of(lr[n]);
            found = n;
        }
    }
    return found;
}

gic_virtual_interface::signal gic_virtual_interface::highest() const
{
    const std::uint32_t n = best(acknowledged_groups());
    return n == count_ ? signal{} : signal{intid_of(lr[n]), (lr[n] & in_group1) != 0};
}

std::uint32_t gic_virtual_interface::acknowledge()
{
    const std::uint32_t n = best(acknowledged_groups());
    if (n == count_) {
        return gic_spurious;
    }
    lr[n] ^= pending | active;
    active_priorities |= 1u << (priority_of(lr[n]) >> priority_shift);
    return intid_of(lr[n]);
}

std::uint32_t gic_virtual_interface::end(std::uint32_t intid)
{
    if (intid - first_special <= gic_spurious - first_special) {
        return gic_spurious; // nothing was acknowledged
    }
    active_priorities &= active_priorities - 1; // the highest
    return (vmcr & vmcr_eoi_mode) != 0 ? gic_spurious : deactivate(intid);
}

std::uint32_t gic_virtual_interface::deactivate(std::uint32_t intid)
{
    for (std::uint64_t &entry : lr) {
        if ((entry & active) != 0 && intid_of(entry) == intid) {
            entry &= ~active;
            return (entry & hardware) != 0 ? physical_of(entry) : gic_spurious;
        }
    }
    if ((hcr >> hcr_count_shift & 0x1F) != 0x1F) {
        hcr += std::uint64_t{1} << hcr_count_shift;
    }
    return gic_spurious;
}

} // namespace bulkhead::machine::devices
