// SPDX-License-Identifier: Apache-2.0
// The frames of a core: its CPU interface (IHI 0048, chapter 4.4), the control of its virtual interface, and
// the virtual interface as a guest sees it (chapter 5). List registers are converted from and to GICv3's
// layout.
#include <bit>

#include "machine/devices/gic_v2.h"

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint32_t gic_400_interface = 0x0202143B; // GICC_IIDR, GICV_IIDR
constexpr std::uint32_t spurious_of_group1 = 1022;
constexpr std::uint32_t control_groups = 3;
constexpr std::uint32_t control_acknowledge = 1u << 2;
constexpr std::uint32_t control_split_end = 1u << 9;
constexpr std::uint64_t vmcr_control = 0x21F; // what GICV_CTLR shows
constexpr std::uint64_t vmcr_bits = 0xF8FC021F;
constexpr std::uint64_t hcr_bits = 0xF80000FF;
constexpr std::uint32_t five_bits_of_priority =
    4u << 29 | 4u << 26; // bits of priority, and of preemption: GICH_VTR
constexpr std::uint64_t list_registers_at = 0x100;
constexpr unsigned sender_shift = 10; // of an INTID with its sender

// The same offsets in both CPU interfaces.
enum interface_register : std::uint64_t {
    control = 0x0,
    priority_mask_register = 0x4,
    binary_point = 0x8,
    acknowledge_register = 0xC,
    end_register = 0x10,
    running = 0x14,
    highest_pending = 0x18,
    aliased_binary_point = 0x1C,
    active_priorities_register = 0xD0,
    identification = 0xFC,
    deactivate_register = 0x1000,
};

constexpr std::uint64_t bits(std::uint64_t value, unsigned shift, std::uint64_t mask)
{
    return value >> shift & mask;
}

std::uint64_t widened(std::uint64_t narrow)
{
    const bool hardware = bits(narrow, 31, 1) != 0;
    const std::uint64_t state = bits(narrow, 28, 3) << 62 | bits(narrow, 30, 1) << 60;
    const std::uint64_t priority = bits(narrow, 23, 0x1F) << 51;
    const std::uint64_t rest = hardware ? std::uint64_t{1} << 61 | bits(narrow, 10, 0x3FF) << 32
                                        : bits(narrow, 19, 1) << 41 | bits(narrow, 10, 7) << sender_shift;
    return state | priority | rest | bits(narrow, 0, 0x3FF);
}

std::uint64_t narrowed(std::uint64_t wide)
{
    const bool hardware = bits(wide, 61, 1) != 0;
    const std::uint64_t state = bits(wide, 62, 3) << 28 | bits(wide, 60, 1) << 30;
    const std::uint64_t priority = bits(wide, 51, 0x1F) << 23;
    const std::uint64_t rest = hardware ? std::uint64_t{1} << 31 | bits(wide, 32, 0x3FF) << 10
                                        : bits(wide, 41, 1) << 19 | bits(wide, sender_shift, 7) << 10;
    return state | priority | rest | bits(wide, 0, 0x3FF);
}

void set_field(std::uint64_t &vmcr, unsigned shift, std::uint64_t mask, std::uint64_t value)
{
    vmcr = (vmcr & ~(mask << shift)) | (value & mask) << shift;
}

} // namespace

// --- GICC ---

// A software-generated interrupt is taken from one sender at a time, the lowest first; those of other senders
// stay pending.
std::uint32_t gic_v2::acknowledge_with_sender(core_id from)
{
    const std::uint32_t next = highest(from);
    own &mine = own_[from.value];
    if (next != spurious && is_group1(from, next) && !mine.acknowledges_group1) {
        return spurious_of_group1;
    }
    const std::uint32_t intid = acknowledge(from);
    if (intid >= sgis) {
        return intid;
    }
    const auto sender = static_cast<std::uint32_t>(std::countr_zero(mine.senders[intid]));
    change_senders(from, intid, 1u << sender, false);
    return intid | sender << sender_shift;
}

std::uint64_t gic_v2::read_interface(core_id from, std::uint64_t offset)
{
    const interface &mine = at(from);
    switch (offset) {
    case control:
        return mine.groups | (own_[from.value].acknowledges_group1 ? control_acknowledge : 0) |
               (mine.split_end ? control_split_end : 0);
    case priority_mask_register:
        return mine.priority_mask;
    case binary_point:
        return own_[from.value].binary_points & 7;
    case aliased_binary_point:
        return own_[from.value].binary_points >> 8 & 7;
    case acknowledge_register:
        return acknowledge_with_sender(from);
    case running:
        return running_priority(from);
    case highest_pending:
        return highest(from);
    case active_priorities_register:
        return mine.active_priorities;
    case identification:
        return gic_400_interface;
    default:
        return 0;
    }
}

void gic_v2::write_interface(core_id from, std::uint64_t offset, std::uint64_t value)
{
    interface &mine = at(from);
    own &more = own_[from.value];
    const auto word = static_cast<std::uint32_t>(value);
    switch (offset) {
    case control:
        mine.groups = word & control_groups;
        mine.split_end = (word & control_split_end) != 0;
        more.acknowledges_group1 = (word & control_acknowledge) != 0;
        break;
    case priority_mask_register:
        return set_priority_mask(from, value);
    case binary_point:
        more.binary_points = (more.binary_points & ~7u) | (word & 7);
        break;
    case aliased_binary_point:
        more.binary_points = (more.binary_points & 7) | (word & 7) << 8;
        break;
    case end_register:
        return end(from, word & spurious);
    case deactivate_register:
        return deactivate(from, word & spurious);
    case active_priorities_register:
        return set_active_priorities(from, value);
    default:
        break;
    }
    changed(from);
}

// --- GICH ---

std::uint64_t gic_v2::read_hypervisor(core_id from, std::uint64_t offset)
{
    const gic_virtual_interface &guest = at(from).guest;
    switch (offset) {
    case 0x00:
        return guest.hcr;
    case 0x04:
        return five_bits_of_priority | (guest.list_registers() - 1);
    case 0x08:
        return guest.vmcr;
    case 0x10:
        return guest.maintenance();
    case 0x20:
        return guest.ended();
    case 0x30:
        return guest.empty();
    case 0xF0:
        return guest.active_priorities;
    default:
        break;
    }
    const std::uint64_t n = (offset - list_registers_at) / 4;
    return n < guest.list_registers() ? narrowed(guest.lr[n]) : 0;
}

void gic_v2::write_hypervisor(core_id from, std::uint64_t offset, std::uint64_t value)
{
    gic_virtual_interface &guest = at(from).guest;
    const std::uint64_t n = (offset - list_registers_at) / 4;
    if (n < guest.list_registers()) {
        guest.lr[n] = widened(value);
    } else if (offset == 0x00) {
        guest.hcr = value & hcr_bits;
    } else if (offset == 0x08) {
        guest.vmcr = value & vmcr_bits;
    } else if (offset == 0xF0) {
        guest.active_priorities = static_cast<std::uint32_t>(value);
    }
    virtual_changed(from);
}

// --- GICV ---

std::uint32_t gic_v2::acknowledge_virtual(core_id from)
{
    gic_virtual_interface &guest = at(from).guest;
    const bool both = (guest.vmcr & control_acknowledge) != 0;
    return guest.highest().group1 && !both ? spurious_of_group1 : guest.acknowledge();
}

std::uint64_t gic_v2::read_virtual(core_id from, std::uint64_t offset)
{
    const gic_virtual_interface &guest = at(from).guest;
    switch (offset) {
    case control:
        return guest.vmcr & vmcr_control;
    case priority_mask_register:
        return bits(guest.vmcr, 24, 0xF8);
    case binary_point:
        return bits(guest.vmcr, 21, 7);
    case aliased_binary_point:
        return bits(guest.vmcr, 18, 7);
    case acknowledge_register: {
        const std::uint32_t intid = acknowledge_virtual(from);
        virtual_changed(from);
        return intid;
    }
    case running:
        return guest.running_priority();
    case highest_pending:
        return guest.highest().intid;
    case active_priorities_register:
        return guest.active_priorities;
    case identification:
        return gic_400_interface;
    default:
        return 0;
    }
}

void gic_v2::write_virtual(core_id from, std::uint64_t offset, std::uint64_t value)
{
    gic_virtual_interface &guest = at(from).guest;
    const auto intid = static_cast<std::uint32_t>(value & 0x1FFF); // with the sender
    std::uint32_t physical = spurious;
    switch (offset) {
    case control:
        guest.vmcr = (guest.vmcr & ~vmcr_control) | (value & vmcr_control);
        break;
    case priority_mask_register:
        set_field(guest.vmcr, 24, 0xF8, value);
        break;
    case binary_point:
        set_field(guest.vmcr, 21, 7, value);
        break;
    case aliased_binary_point:
        set_field(guest.vmcr, 18, 7, value);
        break;
    case end_register:
        physical = guest.end(intid);
        break;
    case deactivate_register:
        physical = guest.deactivate(intid);
        break;
    case active_priorities_register:
        guest.active_priorities = static_cast<std::uint32_t>(value);
        break;
    default:
        break;
    }
    if (physical != spurious) {
        deactivate(from, physical);
    }
    virtual_changed(from);
}

} // namespace bulkhead::machine::devices
