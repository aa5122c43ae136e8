// SPDX-License-Identifier: Apache-2.0
// Offsets of the PL310's registers (DDI 0246H, table 3-2) and their effects; see the header.
#include "machine/devices/pl310.h"

namespace bulkhead::machine::devices {

namespace {

constexpr std::uint64_t cache_id = 0x000, cache_type = 0x004, control = 0x100, auxiliary = 0x104;
constexpr std::uint64_t first_counter = 0x200, last_interrupt = 0x220;
constexpr std::uint64_t sync = 0x730, invalidate_line = 0x770, invalidate_ways = 0x77C;
constexpr std::uint64_t clean_line = 0x7B0, clean_index = 0x7B8, clean_ways = 0x7BC;
constexpr std::uint64_t flush_line = 0x7F0, flush_index = 0x7F8, flush_ways = 0x7FC;
constexpr std::uint64_t first_lockdown = 0x900, line_lockdown = 0x950, unlock_lines = 0x954;
constexpr std::uint64_t filter_start = 0xC00, filter_end = 0xC04;

constexpr std::uint32_t id_r3p2 = 0x410000C8;
constexpr std::uint32_t way_shift = 28; // of an index and way: DDI 0246H, figure 3-16

} // namespace

pl310::pl310(simulated_machine &machine, std::size_t level, std::function<void(std::string_view)> missing)
    : machine_(machine), level_(level), missing_(std::move(missing))
{
    const cache_geometry &shape = machine_.memory().level(level_).storage().geometry();
    const std::uint64_t way_kib = shape.sets() * shape.line().value / 1024;
    // Way size from 16 KiB (1) on in bits 19 to 17; bit 16: sixteen ways, not eight (table 3-7).
    kept_[auxiliary] = 0x02000000U | static_cast<std::uint32_t>(std::bit_width(way_kib / 16)) << 17U |
                       (shape.ways() == 16 ? 1U << 16U : 0);
    kept_[filter_start] = 0;
    kept_[filter_end] = 0;
    machine_.memory().turn_level(level_, false);
}

std::uint64_t pl310::all_ways() const
{
    return (std::uint64_t{1} << machine_.memory().level(level_).settings().cache.ways) - 1;
}

std::uint32_t pl310::read(core_id from, std::uint64_t offset) const
{
    switch (offset) {
    case cache_id:
        return id_r3p2;
    case cache_type: // unified, lines of 32 bytes; sizes are in the auxiliary register
        return 0x1C100100;
    case control:
        return on_ ? 1 : 0;
    case invalidate_ways:
    case clean_ways:
    case flush_ways:
        return now(from) < busy_until_ ? busy_ways_ : 0;
    default:
        break;
    }
    if (offset >= first_lockdown && offset < line_lockdown && offset < first_lockdown + 8 * masters) {
        return locked_[(offset - first_lockdown) / 4];
    }
    const auto found = kept_.find(offset);
    return found == kept_.end() ? 0 : found->second;
}

void pl310::write(core_id from, std::uint64_t offset, std::uint32_t value)
{
    if (offset == control) {
        on_ = (value & 1U) != 0;
        machine_.memory().turn_level(level_, on_);
    } else if (offset >= first_lockdown && offset < first_lockdown + 8 * masters) {
        lock(offset, value);
    } else if (offset == line_lockdown || offset == unlock_lines) {
        report("PL310 lockdown by line");
    } else if (offset >= first_counter && offset <= last_interrupt) {
        report("PL310 event counters and interrupts");
    } else if (!maintain(from, offset, value)) {
        kept_[offset] = value;
    }
}

// Pairs: data and instructions of a master.
void pl310::lock(std::uint64_t offset, std::uint32_t value)
{
    const std::size_t number = (offset - first_lockdown) / 4;
    locked_[number] = value & static_cast<std::uint32_t>(all_ways());
    if (number / 2 < machine_.core_count()) {
        machine_.memory().level(level_).lock_ways(
            requester_of(static_cast<std::uint32_t>(number / 2), number % 2 != 0), locked_[number]);
    }
}

// Returns false if there is no such operation.
bool pl310::maintain(core_id from, std::uint64_t offset, std::uint32_t value)
{
    const operation what{.clean = offset >= clean_line,
                         .invalidate = offset < clean_line || offset >= flush_line};
    const cache &storage = machine_.memory().level(level_).storage();
    switch (offset) {
    case sync: // Cache Sync: each operation has been waited for already
        return true;
    case invalidate_line:
    case clean_line:
    case flush_line:
        maintain_line(from, phys_addr{value & ~(storage.geometry().line().value - 1)}, what);
        return true;
    case clean_index:
    case flush_index: {
        const std::uint64_t set = (value & ((1U << way_shift) - 1)) >> storage.geometry().line_bits();
        if (const auto line = storage.line_at(set, value >> way_shift)) {
            maintain_line(from, *line, what);
        }
        return true;
    }
    case invalidate_ways:
    case clean_ways:
    case flush_ways:
        maintain_ways(from, value & static_cast<std::uint32_t>(all_ways()), what);
        return true;
    default:
        return false;
    }
}

void pl310::maintain_line(core_id from, phys_addr line, operation what)
{
    machine_.core_at(from).maintain_level(level_, line, what.clean, what.invalidate);
}

// Runs in the background: one line after another, each for the time that a lookup takes the port. Software
// polls.
void pl310::maintain_ways(core_id from, std::uint32_t ways, operation what)
{
    memory_system &memory = machine_.memory();
    const shared_level &level = memory.level(level_);
    const picoseconds each{level.settings().occupancy_ps};
    picoseconds when = std::max(now(from), busy_until_);
    for (std::uint32_t way = 0; way < level.storage().geometry().ways(); ++way) {
        for (std::uint64_t set = 0; (ways >> way & 1U) != 0 && set < level.storage().geometry().sets();
             ++set) {
            if (const auto line = level.storage().line_at(set, way)) {
                memory.maintain(level_, machine_.core_at(from).way(), *line, what.clean, what.invalidate,
                                when);
            }
            when = when + each;
        }
    }
    busy_ways_ = ways;
    busy_until_ = when;
}

void pl310::report(std::string_view name)
{
    if (reported_.insert(name).second) {
        missing_(name);
    }
}

} // namespace bulkhead::machine::devices
