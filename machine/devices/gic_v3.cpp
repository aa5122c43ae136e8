// SPDX-License-Identifier: Apache-2.0
// Register offsets from IHI 0069, chapter 12.
#include "machine/devices/gic_v3.h"

#include <utility>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint64_t sgi_frame = 0x10000;
constexpr std::uint64_t routers = 0x6000;
constexpr std::uint64_t all_groups = 3;
constexpr std::uint32_t affinity_routing = 1u << 4;
constexpr std::uint32_t group1 = 2;
constexpr std::uint64_t control_end_mode = 2;
constexpr std::uint64_t control_fixed =
    (gic_virtual_interface::priority_bits - 1) << 8 | 1u << 15; // and A3V: affinity has four levels

} // namespace

gic_v3::gic_v3(const settings &chosen, std::function<void(core_id)> changed)
    : gic({.cores = chosen.affinities.size(),
           .interrupts = chosen.interrupts,
           .maintenance = chosen.maintenance,
           .list_registers = chosen.list_registers,
           .one_for_both = false},
          std::move(changed)),
      affinities_(chosen.affinities), routes_(chosen.interrupts)
{
    for (std::uint32_t n = 0; n < core_count(); ++n) {
        at(core_id{n}).asleep = true;
    }
    for (std::uint32_t intid = first_shared; intid < interrupts(); ++intid) {
        route(intid, 0);
    }
}

void gic_v3::route(std::uint32_t intid, std::uint64_t affinity)
{
    routes_[intid] = affinity;
    std::uint32_t cores = 0;
    for (std::size_t n = 0; n < affinities_.size(); ++n) {
        cores |= ((affinity & 0xFFFFFF) | (affinity >> 32 & 0xFF) << 24) == affinities_[n] ? 1u << n : 0;
    }
    set_targets(intid, cores);
}

void gic_v3::send_sgi(core_id core, std::uint64_t value)
{
    const auto sgi = static_cast<std::uint32_t>(value >> 24 & 0xF);
    const bool all_others = (value >> 40 & 1) != 0;
    const auto cluster = static_cast<std::uint32_t>((value >> 16 & 0xFF) << 8 | (value >> 32 & 0xFF) << 16 |
                                                    (value >> 48 & 0xFF) << 24);
    const std::uint64_t range = (value >> 44 & 0xF) * 16;
    for (std::uint32_t n = 0; n < core_count(); ++n) {
        const std::uint32_t affinity = affinities_[n];
        const std::uint64_t last = affinity & 0xFF;
        const bool listed = (affinity & ~0xFFu) == cluster && last >= range && last < range + 16 &&
                            (value >> (last - range) & 1) != 0;
        if (all_others ? n != core.value : listed) {
            at(core_id{n}).privates.latched |= 1u << sgi;
            changed(core_id{n});
        }
    }
}

std::uint64_t gic_v3::control(core_id core) const
{
    return control_fixed | (at(core).split_end ? control_end_mode : 0);
}

void gic_v3::set_control(core_id core, std::uint64_t value)
{
    at(core).split_end = (value & control_end_mode) != 0;
}

void gic_v3::set_group_enable(core_id core, std::uint64_t value)
{
    at(core).groups = (value & 1) != 0 ? group1 : 0;
    changed(core);
}

std::uint64_t gic_v3::read_distributor(std::uint64_t offset, unsigned bytes)
{
    if (offset == 0) {
        return enabled_groups() | affinity_routing | 1u << 6; // DS: one security state
    }
    if (offset == 4) {
        return (interrupts() / 32 - 1) | 9u << 19; // IDbits
    }
    if (offset == 0xFFE8) {
        return 0x30; // GICv3
    }
    if (offset >= routers && offset < routers + interrupts() * std::uint64_t{8}) {
        return routes_[(offset - routers) / 8] >> offset % 8 * 8;
    }
    // Private interrupts belong to the redistributors.
    return offset < banks || word_at(offset) == 0 ? 0 : read_banks(core_id{0}, offset, bytes);
}

void gic_v3::write_distributor(std::uint64_t offset, unsigned bytes, std::uint64_t value)
{
    if (offset == 0) {
        enable_groups(static_cast<std::uint32_t>(value & all_groups));
    } else if (offset >= routers && offset < routers + interrupts() * std::uint64_t{8}) {
        const auto intid = static_cast<std::uint32_t>((offset - routers) / 8);
        const std::uint64_t before = routes_[intid];
        route(intid, bytes == 8        ? value
                     : offset % 8 == 0 ? (before & ~std::uint64_t{0xFFFFFFFF}) | value
                                       : (before & 0xFFFFFFFF) | value << 32);
    } else if (offset >= banks && word_at(offset) != 0) {
        write_banks(core_id{0}, offset, bytes, value);
    }
    changed_everywhere();
}

std::uint64_t gic_v3::read_redistributor(std::uint64_t offset, unsigned bytes)
{
    const std::uint64_t n = offset / redistributor_bytes;
    const std::uint64_t within = offset % redistributor_bytes;
    if (n >= core_count()) {
        return 0;
    }
    const core_id core{static_cast<std::uint32_t>(n)};
    if (within >= sgi_frame) {
        return word_at(within - sgi_frame) == 0 ? read_banks(core, within - sgi_frame, bytes) : 0;
    }
    const std::uint64_t type =
        std::uint64_t{affinities_[n]} << 32 | n << 8 | (n + 1 == core_count() ? 1u << 4 : 0);
    switch (within) {
    case 8:
        return bytes == 8 ? type : type & 0xFFFFFFFF;
    case 12:
        return type >> 32;
    case 0x14:
        return at(core).asleep ? 6 : 0;
    case 0xFFE8:
        return 0x30;
    default:
        return 0;
    }
}

void gic_v3::write_redistributor(std::uint64_t offset, unsigned bytes, std::uint64_t value)
{
    const std::uint64_t n = offset / redistributor_bytes;
    const std::uint64_t within = offset % redistributor_bytes;
    if (n >= core_count()) {
        return;
    }
    const core_id core{static_cast<std::uint32_t>(n)};
    if (within == 0x14) {
        at(core).asleep = (value & 2) != 0;
    } else if (within >= sgi_frame && word_at(within - sgi_frame) == 0) {
        write_banks(core, within - sgi_frame, bytes, value);
    }
    changed(core);
}

} // namespace bulkhead::machine::devices
