// SPDX-License-Identifier: Apache-2.0
// Handles interrupts from their inputs to the CPU interface; see the header.
#include "machine/devices/gic.h"

#include <bit>
#include <utility>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint32_t first_special = 1020;
constexpr unsigned priority_shift = 8 - gic_virtual_interface::priority_bits;
constexpr std::uint8_t implemented_priority = 0xFF << priority_shift & 0xFF;

std::uint32_t bit_of(std::uint32_t intid)
{
    return 1u << intid % 32;
}

// Which of ISENABLER, ICENABLER, … contains an offset below the priorities.
std::uint64_t set_of(std::uint64_t offset)
{
    return offset & ~std::uint64_t{0x7F};
}

// Two configuration bits for each of 16 interrupts, the upper one says edge: from bit `shift` on.
std::uint64_t triggers(std::uint32_t edge, unsigned shift)
{
    std::uint64_t value = 0;
    for (unsigned n = 0; n < 16; ++n) {
        value |= std::uint64_t{edge >> (shift + n) & 1} << (2 * n + 1);
    }
    return value;
}

std::uint32_t with_triggers(std::uint32_t edge, unsigned shift, std::uint64_t value)
{
    for (unsigned n = 0; n < 16; ++n) {
        const std::uint32_t bit = 1u << (shift + n);
        edge = (value >> (2 * n + 1) & 1) != 0 ? edge | bit : edge & ~bit;
    }
    return edge;
}

void write_set(gic_word &word, std::uint64_t set, std::uint32_t bits)
{
    switch (set) {
    case 0x80:
        word.group = bits;
        break;
    case 0x100:
        word.enabled |= bits;
        break;
    case 0x180:
        word.enabled &= ~bits;
        break;
    case 0x200:
        word.latched |= bits;
        break;
    case 0x280:
        word.latched &= ~bits;
        break;
    case 0x300:
        word.active |= bits;
        break;
    case 0x380:
        word.active &= ~bits;
        break;
    default:
        break;
    }
}

std::uint32_t read_set(const gic_word &word, std::uint64_t set)
{
    switch (set) {
    case 0x80:
        return word.group;
    case 0x100:
    case 0x180:
        return word.enabled;
    case 0x200:
    case 0x280:
        return word.pending();
    case 0x300:
    case 0x380:
        return word.active;
    default:
        return 0;
    }
}

} // namespace

gic::gic(const shape &chosen, std::function<void(core_id)> changed)
    : shape_(chosen), changed_(std::move(changed)),
      cores_(chosen.cores, interface({chosen.list_registers, chosen.one_for_both})),
      shared_(chosen.interrupts / 32), priorities_(chosen.interrupts), targets_(chosen.interrupts)
{
    for (interface &core : cores_) {
        core.privates.edge = (1u << sgis) - 1;
    }
}

gic_word &gic::word_of(core_id core, std::uint32_t intid)
{
    return intid < first_shared ? cores_[core.value].privates : shared_[intid / 32];
}

const gic_word &gic::word_of(core_id core, std::uint32_t intid) const
{
    return intid < first_shared ? cores_[core.value].privates : shared_[intid / 32];
}

std::uint8_t gic::priority_of(core_id core, std::uint32_t intid) const
{
    return intid < first_shared ? cores_[core.value].priorities[intid] : priorities_[intid];
}

std::uint32_t gic::running_priority(core_id core) const
{
    const std::uint32_t active = at(core).active_priorities;
    return active == 0 ? 0xFF : static_cast<std::uint32_t>(std::countr_zero(active)) << priority_shift;
}

bool gic::is_group1(core_id core, std::uint32_t intid) const
{
    return (word_of(core, intid).group & bit_of(intid)) != 0;
}

std::uint32_t gic::highest(core_id core) const
{
    const interface &own = at(core);
    const std::uint32_t groups = groups_ & own.groups;
    if (groups == 0 || own.asleep) {
        return spurious;
    }
    std::uint32_t lowest = own.priority_mask;
    if (running_priority(core) < lowest) {
        lowest = running_priority(core);
    }
    std::uint32_t found = spurious;
    for (std::uint32_t first = 0; first < shape_.interrupts; first += 32) {
        const gic_word &word = word_of(core, first);
        std::uint32_t ready = word.pending() & word.enabled & ~word.active;
        ready &= ((groups & 1) != 0 ? ~word.group : 0) | ((groups & 2) != 0 ? word.group : 0);
        for (; ready != 0; ready &= ready - 1) {
            const std::uint32_t intid = first + static_cast<std::uint32_t>(std::countr_zero(ready));
            if (priority_of(core, intid) < lowest &&
                (intid < first_shared || (targets_[intid] >> core.value & 1) != 0)) {
                lowest = priority_of(core, intid);
                found = intid;
            }
        }
    }
    return found;
}

// --- The CPU interface ---

std::uint32_t gic::acknowledge(core_id core)
{
    const std::uint32_t intid = seen_ && !seen_(core) ? spurious : highest(core);
    if (intid != spurious) {
        gic_word &word = word_of(core, intid);
        word.active |= bit_of(intid);
        word.latched &= ~bit_of(intid);
        at(core).active_priorities |= 1u << (priority_of(core, intid) >> priority_shift);
        changed_for(core, intid); // it is no longer signalled
    }
    return intid;
}

void gic::end(core_id core, std::uint32_t intid)
{
    if (intid - first_special <= spurious - first_special) {
        return; // nothing was acknowledged
    }
    interface &own = at(core);
    own.active_priorities &= own.active_priorities - 1; // the highest priority
    if (!own.split_end) {
        deactivate(core, intid);
    } else {
        changed_(core);
    }
}

void gic::deactivate(core_id core, std::uint32_t intid)
{
    if (intid < shape_.interrupts) {
        word_of(core, intid).active &= ~bit_of(intid);
        changed_for(core, intid);
    }
}

void gic::set_priority_mask(core_id core, std::uint64_t value)
{
    at(core).priority_mask = static_cast<std::uint32_t>(value) & implemented_priority;
    changed_(core);
}

void gic::set_active_priorities(core_id core, std::uint64_t value)
{
    at(core).active_priorities = static_cast<std::uint32_t>(value);
    changed_(core);
}

// --- Inputs ---

void gic::set_line(core_id core, std::uint32_t intid, bool high)
{
    gic_word &word = word_of(core, intid);
    const bool was = (word.line & bit_of(intid)) != 0;
    if (was == high) {
        return;
    }
    word.line ^= bit_of(intid);
    if (high && (word.edge & bit_of(intid)) != 0) {
        word.latched |= bit_of(intid);
    }
    changed_for(core, intid);
}

void gic::virtual_changed(core_id core)
{
    set_line(core, shape_.maintenance, at(core).guest.maintenance() != 0);
}

// The core to which a change of an interrupt may matter.
void gic::changed_for(core_id core, std::uint32_t intid)
{
    if (intid < first_shared) {
        changed_(core);
    } else {
        changed_everywhere();
    }
}

void gic::changed_everywhere()
{
    for (std::uint32_t n = 0; n < cores_.size(); ++n) {
        changed_(core_id{n});
    }
}

// --- Registers ---

std::uint64_t gic::word_at(std::uint64_t offset)
{
    if (offset >= configuration) {
        return (offset - configuration) / 8;
    }
    return offset >= priorities ? (offset - priorities) / 32 : offset % 0x80 / 4;
}

std::uint64_t gic::read_banks(core_id core, std::uint64_t offset, unsigned bytes) const
{
    const std::uint64_t number = word_at(offset);
    if (number >= shared_.size()) {
        return 0;
    }
    const gic_word &word = number == 0 ? at(core).privates : shared_[number];
    if (offset < priorities) {
        return read_set(word, set_of(offset));
    }
    if (offset >= configuration) {
        return offset < configuration_end
                   ? triggers(word.edge, static_cast<unsigned>((offset - configuration) / 4 % 2 * 16))
                   : 0;
    }
    const std::uint8_t *const own = number == 0 ? at(core).priorities.data() : &priorities_[number * 32];
    std::uint64_t value = 0;
    for (unsigned n = 0; n < bytes && offset < targets; ++n) {
        value |= std::uint64_t{own[(offset - priorities + n) % 32]} << 8 * n;
    }
    return value;
}

void gic::write_banks(core_id core, std::uint64_t offset, unsigned bytes, std::uint64_t value)
{
    const std::uint64_t number = word_at(offset);
    if (number >= shared_.size()) {
        return;
    }
    gic_word &word = number == 0 ? at(core).privates : shared_[number];
    if (offset < priorities) {
        write_set(word, set_of(offset), static_cast<std::uint32_t>(value));
    } else if (offset >= configuration && offset < configuration_end) {
        const auto shift = static_cast<unsigned>((offset - configuration) / 4 % 2 * 16);
        const bool of_sgis = number == 0 && shift == 0;
        word.edge = of_sgis ? word.edge : with_triggers(word.edge, shift, value);
    } else if (offset < targets) {
        std::uint8_t *const own = number == 0 ? at(core).priorities.data() : &priorities_[number * 32];
        for (unsigned n = 0; n < bytes; ++n) {
            own[(offset - priorities + n) % 32] =
                static_cast<std::uint8_t>(value >> 8 * n & implemented_priority);
        }
    }
}

} // namespace bulkhead::machine::devices
