// SPDX-License-Identifier: Apache-2.0
// The distributor: registers common to both versions, targets, and software-generated interrupts with their
// senders. Register offsets from IHI 0048, chapter 4.3.
#include "machine/devices/gic_v2.h"

#include <utility>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint64_t clear_senders = 0xF10;
constexpr std::uint64_t set_senders = 0xF20;
constexpr std::uint64_t set_senders_end = 0xF30;
constexpr std::uint64_t software_generated = 0xF00;
constexpr std::uint64_t pending_bits = 0x200; // set registers; the clear registers are 0x80 further on
constexpr std::uint64_t identification = 0xFD0;
constexpr std::uint32_t gic_400 = 0x0200143B; // GICD_IIDR
constexpr std::uint32_t both_groups = 3;

} // namespace

gic_v2::gic_v2(const settings &chosen, std::function<void(core_id)> changed)
    : gic({.cores = chosen.cores,
           .interrupts = chosen.interrupts,
           .maintenance = chosen.maintenance,
           .list_registers = chosen.list_registers,
           .one_for_both = true},
          std::move(changed)),
      own_(chosen.cores)
{
}

std::uint8_t gic_v2::read_target(core_id from, std::uint64_t intid) const
{
    if (core_count() == 1 || intid >= interrupts()) {
        return 0; // with one core there is no choice
    }
    const std::uint32_t targets_there =
        intid < first_shared ? 1u << from.value : targets_of(static_cast<std::uint32_t>(intid));
    return static_cast<std::uint8_t>(targets_there);
}

// A software-generated interrupt is pending as long as it is pending from any sender.
void gic_v2::change_senders(core_id from, std::uint64_t offset, std::uint32_t senders, bool set)
{
    const std::uint64_t sgi = offset % sgis;
    std::uint8_t &byte = own_[from.value].senders[sgi];
    byte = static_cast<std::uint8_t>(set ? byte | senders : byte & ~senders);
    std::uint32_t &latched = at(from).privates.latched;
    latched = byte != 0 ? latched | 1u << sgi : latched & ~(1u << sgi);
}

void gic_v2::send_sgi(core_id from, std::uint32_t value)
{
    const std::uint32_t self = 1u << from.value;
    const std::uint32_t filter = value >> 24 & 3;
    const std::uint32_t listed = value >> 16 & 0xFF;
    const std::uint32_t receivers = filter == 0 ? listed : filter == 1 ? ~self : filter == 2 ? self : 0;
    for (std::uint32_t n = 0; n < core_count(); ++n) {
        if ((receivers >> n & 1) != 0) {
            change_senders(core_id{n}, value & 0xF, self, true);
            changed(core_id{n});
        }
    }
}

std::uint64_t gic_v2::read_distributor(core_id from, std::uint64_t offset, unsigned bytes)
{
    constexpr std::array<std::uint8_t, 12> identity = {0x04, 0, 0,    0,    0x90, 0xB4,
                                                       0x2B, 0, 0x0D, 0xF0, 5,    0xB1};
    if (offset == 0) {
        return enabled_groups();
    }
    if (offset == 4) {
        return (interrupts() / 32 - 1) | static_cast<std::uint32_t>(core_count() - 1) << 5;
    }
    if (offset == 8) {
        return gic_400;
    }
    if (offset >= identification && offset < distributor_bytes) {
        return identity[(offset - identification) / 4];
    }
    std::uint64_t value = 0;
    if (offset >= targets && offset < configuration) {
        for (unsigned n = 0; n < bytes; ++n) {
            value |= std::uint64_t{read_target(from, offset - targets + n)} << 8 * n;
        }
        return value;
    }
    if (offset >= clear_senders && offset < set_senders_end) {
        for (unsigned n = 0; n < bytes; ++n) {
            value |= std::uint64_t{own_[from.value].senders[(offset + n) % sgis]} << 8 * n;
        }
        return value;
    }
    return offset < banks ? 0 : read_banks(from, offset, bytes);
}

void gic_v2::write_distributor(core_id from, std::uint64_t offset, unsigned bytes, std::uint64_t value)
{
    if (offset == software_generated) {
        return send_sgi(from, static_cast<std::uint32_t>(value));
    }
    if (offset == 0) {
        enable_groups(static_cast<std::uint32_t>(value) & both_groups);
    } else if (offset >= targets && offset < configuration) {
        const std::uint32_t all = (1u << core_count()) - 1;
        for (unsigned n = 0; n < bytes; ++n) {
            const auto intid = static_cast<std::uint32_t>(offset - targets + n);
            if (intid >= first_shared && intid < interrupts()) {
                set_targets(intid, static_cast<std::uint32_t>(value >> 8 * n) & all);
            }
        }
    } else if (offset >= clear_senders && offset < set_senders_end) {
        for (unsigned n = 0; n < bytes; ++n) {
            change_senders(from, offset + n, static_cast<std::uint32_t>(value >> 8 * n) & 0xFF,
                           offset >= set_senders);
        }
    } else if (offset >= banks) {
        const bool of_senders = offset == pending_bits || offset == pending_bits + 0x80;
        const std::uint64_t private_mask = of_senders ? ~std::uint64_t{0xFFFF} : ~std::uint64_t{0};
        write_banks(from, offset, bytes, value & private_mask);
    }
    changed_everywhere();
}

} // namespace bulkhead::machine::devices
