// SPDX-License-Identifier: Apache-2.0
// Distributor, redistributors and the physical CPU interface. Register offsets from IHI 0069, chapter 12.
#include "machine/devices/gic_v3.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint32_t first_shared = 32;
constexpr std::uint32_t sgis = 16;
constexpr std::uint64_t sgi_frame = 0x10000;
constexpr std::uint64_t igroupr = 0x80;
constexpr std::uint64_t priorities = 0x400;
constexpr std::uint64_t targets = 0x800;
constexpr std::uint64_t configuration = 0xC00;
constexpr std::uint64_t configuration_end = 0xD00;
constexpr std::uint64_t routers = 0x6000;
constexpr std::uint64_t implemented_priority = 0xF8; // five bits, all of them preempt
constexpr unsigned priority_shift = 3;
constexpr std::uint64_t control_end_mode = 2;
constexpr std::uint64_t control_fixed = 4u << 8 | 1u << 15; // PRIbits: five; A3V: four levels of affinity
constexpr std::uint64_t all_groups = 3;
constexpr std::uint32_t affinity_routing = 1u << 4;

std::uint32_t bit_of(std::uint32_t intid)
{
    return 1u << intid % 32;
}

// Which of ISENABLER, ICENABLER, … an offset below the priorities is in, and which word there.
std::uint64_t set_of(std::uint64_t offset)
{
    return offset & ~std::uint64_t{0x7F};
}

std::uint64_t word_in_set(std::uint64_t offset)
{
    return offset % 0x80 / 4;
}

} // namespace

gic_v3::gic_v3(settings chosen, std::function<void(core_id)> changed)
    : settings_(std::move(chosen)), changed_(std::move(changed)),
      cores_(settings_.affinities.size(), cpu(settings_.list_registers)), shared_(settings_.interrupts / 32),
      priorities_(settings_.interrupts), routes_(settings_.interrupts)
{
    for (cpu &core : cores_) {
        core.privates.edge = 0xFFFF; // SGIs
    }
}

gic_word &gic_v3::word_of(core_id core, std::uint32_t intid)
{
    return intid < first_shared ? cores_[core.value].privates : shared_[intid / 32];
}

const gic_word &gic_v3::word_of(core_id core, std::uint32_t intid) const
{
    return intid < first_shared ? cores_[core.value].privates : shared_[intid / 32];
}

std::uint8_t gic_v3::priority_of(core_id core, std::uint32_t intid) const
{
    return intid < first_shared ? cores_[core.value].priorities[intid] : priorities_[intid];
}

bool gic_v3::routed_to(core_id core, std::uint32_t intid) const
{
    const std::uint64_t route = routes_[intid];
    return ((route & 0xFFFFFF) | (route >> 32 & 0xFF) << 24) == settings_.affinities[core.value];
}

std::uint32_t gic_v3::best(core_id core) const
{
    const cpu &own = cores_[core.value];
    if (!own.enabled || own.asleep || (control_ & 2) == 0) {
        return spurious;
    }
    std::uint64_t lowest = own.priority_mask;
    if (own.active_priorities != 0) {
        const auto running = static_cast<std::uint64_t>(std::countr_zero(own.active_priorities))
                             << priority_shift;
        lowest = std::min(lowest, running);
    }
    std::uint32_t found = spurious;
    for (std::uint32_t first = 0; first < settings_.interrupts; first += 32) {
        const gic_word &word = word_of(core, first);
        const std::uint32_t ready = word.pending() & word.enabled & ~word.active & word.group;
        for (std::uint32_t n = 0; ready >> n != 0 && n < 32; ++n) {
            const std::uint32_t intid = first + n;
            if ((ready & bit_of(n)) != 0 && priority_of(core, intid) < lowest &&
                (intid < first_shared || routed_to(core, intid))) {
                lowest = priority_of(core, intid);
                found = intid;
            }
        }
    }
    return found;
}

std::uint32_t gic_v3::acknowledge(core_id core)
{
    const std::uint32_t intid = best(core);
    if (intid != spurious) {
        gic_word &word = word_of(core, intid);
        word.active |= bit_of(intid);
        word.latched &= ~bit_of(intid);
        cores_[core.value].active_priorities |= 1u << (priority_of(core, intid) >> priority_shift);
    }
    return intid;
}

void gic_v3::end(core_id core, std::uint32_t intid)
{
    cpu &own = cores_[core.value];
    own.active_priorities &= own.active_priorities - 1; // the most urgent
    if (!own.split_end) {
        deactivate(core, intid);
    } else {
        changed_(core);
    }
}

void gic_v3::deactivate(core_id core, std::uint32_t intid)
{
    if (intid < settings_.interrupts) {
        word_of(core, intid).active &= ~bit_of(intid);
        if (intid < first_shared) {
            changed_(core);
        } else {
            changed_everywhere();
        }
    }
}

void gic_v3::send_sgi(core_id core, std::uint64_t value)
{
    const auto sgi = static_cast<std::uint32_t>(value >> 24 & 0xF);
    const bool all_others = (value >> 40 & 1) != 0;
    const auto cluster = static_cast<std::uint32_t>((value >> 16 & 0xFF) << 8 | (value >> 32 & 0xFF) << 16 |
                                                    (value >> 48 & 0xFF) << 24);
    const std::uint64_t range = (value >> 44 & 0xF) * 16;
    for (std::uint32_t n = 0; n < cores_.size(); ++n) {
        const std::uint32_t affinity = settings_.affinities[n];
        const std::uint64_t last = affinity & 0xFF;
        const bool listed = (affinity & ~0xFFu) == cluster && last >= range && last < range + 16 &&
                            (value >> (last - range) & 1) != 0;
        if (all_others ? n != core.value : listed) {
            cores_[n].privates.latched |= 1u << sgi;
            changed_(core_id{n});
        }
    }
}

void gic_v3::set_priority_mask(core_id core, std::uint64_t value)
{
    cores_[core.value].priority_mask = value & implemented_priority;
    changed_(core);
}

std::uint64_t gic_v3::control(core_id core) const
{
    return control_fixed | (cores_[core.value].split_end ? control_end_mode : 0);
}

void gic_v3::set_control(core_id core, std::uint64_t value)
{
    cores_[core.value].split_end = (value & control_end_mode) != 0;
}

void gic_v3::set_active_priorities(core_id core, std::uint64_t value)
{
    cores_[core.value].active_priorities = static_cast<std::uint32_t>(value);
    changed_(core);
}

void gic_v3::set_group_enable(core_id core, std::uint64_t value)
{
    cores_[core.value].enabled = (value & 1) != 0;
    changed_(core);
}

void gic_v3::set_line(core_id core, std::uint32_t intid, bool high)
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
    if (intid < first_shared) {
        changed_(core);
    } else {
        changed_everywhere();
    }
}

void gic_v3::virtual_changed(core_id core)
{
    set_line(core, settings_.maintenance, cores_[core.value].guest.maintenance() != 0);
}

void gic_v3::changed_everywhere()
{
    for (std::uint32_t n = 0; n < cores_.size(); ++n) {
        changed_(core_id{n});
    }
}

// Offsets are those of the word's own registers: word 0 of each set, and the first 32 priorities.
std::uint64_t gic_v3::read_bits(const gic_word &word, const std::uint8_t *of_word, std::uint64_t offset,
                                unsigned bytes)
{
    switch (set_of(offset)) {
    case igroupr:
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
        break;
    }
    std::uint64_t value = 0;
    if (offset >= priorities && offset < targets) {
        for (unsigned n = 0; n < bytes; ++n) {
            value |= std::uint64_t{of_word[(offset - priorities + n) % 32]} << 8 * n;
        }
    } else if (offset >= configuration && offset < configuration_end) {
        const std::uint32_t half = word.edge >> (offset - configuration) / 4 % 2 * 16;
        for (unsigned n = 0; n < 16; ++n) {
            value |= std::uint64_t{half >> n & 1} << (2 * n + 1);
        }
    }
    return value;
}

bool gic_v3::write_bits(gic_word &word, std::uint8_t *of_word, std::uint64_t offset, unsigned bytes,
                        std::uint64_t value)
{
    const auto bits = static_cast<std::uint32_t>(value);
    switch (set_of(offset)) {
    case igroupr:
        word.group = bits;
        return true;
    case 0x100:
        word.enabled |= bits;
        return true;
    case 0x180:
        word.enabled &= ~bits;
        return true;
    case 0x200:
        word.latched |= bits;
        return true;
    case 0x280:
        word.latched &= ~bits;
        return true;
    case 0x300:
        word.active |= bits;
        return true;
    case 0x380:
        word.active &= ~bits;
        return true;
    default:
        break;
    }
    if (offset >= priorities && offset < targets) {
        for (unsigned n = 0; n < bytes; ++n) {
            of_word[(offset - priorities + n) % 32] =
                static_cast<std::uint8_t>(value >> 8 * n & implemented_priority);
        }
        return true;
    }
    if (offset >= configuration && offset < configuration_end) {
        const unsigned shift = (offset - configuration) / 4 % 2 * 16;
        std::uint32_t half = 0;
        for (unsigned n = 0; n < 16; ++n) {
            half |= (bits >> (2 * n + 1) & 1) << n;
        }
        word.edge = (word.edge & ~(0xFFFFu << shift)) | half << shift;
        return true;
    }
    return false;
}

namespace {

// The word that an offset of the distributor is about.
std::uint64_t word_at(std::uint64_t offset)
{
    if (offset >= configuration) {
        return (offset - configuration) / 8;
    }
    return offset >= priorities ? (offset - priorities) / 32 : word_in_set(offset);
}

} // namespace

std::uint64_t gic_v3::read_distributor(std::uint64_t offset, unsigned bytes)
{
    if (offset == 0) {
        return control_ | affinity_routing | 1u << 6; // DS: one security state
    }
    if (offset == 4) {
        return (settings_.interrupts / 32 - 1) | 9u << 19; // IDbits
    }
    if (offset == 0xFFE8) {
        return 0x30; // GICv3
    }
    if (offset >= routers && offset < routers + settings_.interrupts * std::uint64_t{8}) {
        return routes_[(offset - routers) / 8] >> offset % 8 * 8;
    }
    const std::uint64_t word = word_at(offset);
    if (offset < igroupr || offset >= configuration_end || word == 0 || word >= shared_.size()) {
        return 0;
    }
    return read_bits(shared_[word], &priorities_[word * 32], offset, bytes);
}

void gic_v3::write_distributor(std::uint64_t offset, unsigned bytes, std::uint64_t value)
{
    if (offset == 0) {
        control_ = static_cast<std::uint32_t>(value & all_groups);
    } else if (offset >= routers && offset < routers + settings_.interrupts * std::uint64_t{8}) {
        std::uint64_t &route = routes_[(offset - routers) / 8];
        route = bytes == 8        ? value
                : offset % 8 == 0 ? (route & ~std::uint64_t{0xFFFFFFFF}) | value
                                  : (route & 0xFFFFFFFF) | value << 32;
    } else {
        const std::uint64_t word = word_at(offset);
        if (offset < igroupr || offset >= configuration_end || word == 0 || word >= shared_.size()) {
            return;
        }
        write_bits(shared_[word], &priorities_[word * 32], offset, bytes, value);
    }
    changed_everywhere();
}

std::uint64_t gic_v3::read_redistributor(std::uint64_t offset, unsigned bytes)
{
    const std::uint64_t n = offset / redistributor_bytes;
    const std::uint64_t within = offset % redistributor_bytes;
    if (n >= cores_.size()) {
        return 0;
    }
    const cpu &core = cores_[n];
    if (within >= sgi_frame) {
        return word_at(within - sgi_frame) == 0 || within - sgi_frame >= priorities
                   ? read_bits(core.privates, core.priorities.data(), within - sgi_frame, bytes)
                   : 0;
    }
    const std::uint64_t type =
        std::uint64_t{settings_.affinities[n]} << 32 | n << 8 | (n + 1 == cores_.size() ? 1u << 4 : 0);
    switch (within) {
    case 8:
        return bytes == 8 ? type : type & 0xFFFFFFFF;
    case 12:
        return type >> 32;
    case 0x14:
        return core.asleep ? 6 : 0;
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
    if (n >= cores_.size()) {
        return;
    }
    cpu &core = cores_[n];
    if (within == 0x14) {
        core.asleep = (value & 2) != 0;
    } else if (within >= sgi_frame && word_at(within - sgi_frame) == 0) {
        const std::uint32_t edge = core.privates.edge;
        write_bits(core.privates, core.priorities.data(), within - sgi_frame, bytes, value);
        core.privates.edge = (core.privates.edge & ~((1u << sgis) - 1)) | (edge & ((1u << sgis) - 1));
    }
    changed_(core_id{static_cast<std::uint32_t>(n)});
}

} // namespace bulkhead::machine::devices
