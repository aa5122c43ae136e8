// SPDX-License-Identifier: Apache-2.0
// How a core's parts work together; see the header.
#include "machine/core.h"

namespace bulkhead::machine {

core::core(core_id id, const core_settings &wanted, cache l1d, std::optional<cache> l1i,
           std::optional<cache> l2, route way, engine &timeline, const load_store_unit::surroundings &around)
    : settings_(wanted), turn_(id, wanted, timeline),
      load_store_(wanted, std::move(l1d), std::move(l2), std::move(way), around, turn_, tallies_),
      fetch_(std::move(l1i), wanted, around.ram, load_store_, turn_, tallies_)
{
    load_store_.set_fetches(fetch_);
    turn_.clock().set_fetches(fetch_.core_bit());
}

core::~core() = default;

// Handles an access that is not to its set's most recently used line. Each call is a tail call, so that the
// function saves no registers.
void core::other_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent)
{
    const load_store_unit::access what{address, bytes, kind, dependent};
    if (!load_store_.fits_line(what)) [[unlikely]] {
        split_access(what);
        return;
    }
    const std::size_t slot = load_store_.find(what.address);
    if (slot == cache::absent) [[likely]] {
        missed_access(what);
        return;
    }
    found_access(what, slot);
}

[[gnu::flatten]] void core::missed_access(load_store_unit::access what)
{
    load_store_.miss(what);
    finish();
}

void core::split_access(load_store_unit::access what)
{
    load_store_.split(what);
    finish();
}

void core::found_access(load_store_unit::access what, std::size_t slot)
{
    switch (load_store_.serve(what, slot)) {
    case load_store_unit::service::l1_hit:
        if (what.dependent) {
            spend_load_use();
        }
        break;
    case load_store_unit::service::merged:
        break;
    case load_store_unit::service::ordered:
        finish();
        break;
    }
}

void core::budget_spent()
{
    turn_.clock().settle();
    load_store_.hold_window();
    turn_.catch_up();
    finish();
}

void core::uncached(phys_addr address, std::uint32_t bytes, access_kind kind)
{
    load_store_.uncached({address, bytes, kind, true});
    finish();
}

void core::fetch(phys_addr where, const std::shared_ptr<fetched_text> &text, std::uint64_t offset)
{
    if (fetch_.fetch(where, text, offset)) {
        finish();
    }
}

void core::walk_read(phys_addr where, walk_path from)
{
    load_store_.walk_read(where, from);
    finish();
}

void core::spend(picoseconds time)
{
    turn_.clock().settle();
    turn_.clock().add(time);
    turn_.catch_up();
    finish();
}

// To the nearest cycle.
void core::count_cycles(core_event which, std::uint64_t ps)
{
    constexpr std::uint64_t mhz = 1'000'000, ps_in_us = 1'000'000;
    const std::uint64_t cycles = (ps * (settings_.frequency_hz / mhz) + ps_in_us / 2) / ps_in_us;
    if (cycles != 0) {
        tallies_.count(which, cycles);
    }
}

void core::spend_cycles(std::uint32_t cycles, stall_cause cause)
{
    if (cycles == 0) {
        return;
    }
    turn_.stall_cycles(cycles, cause);
    turn_.catch_up();
    finish();
}

void core::wait()
{
    turn_.wait_for_signal();
    turn_.grant(load_store_.instructions_left());
}

void core::start(std::function<void(core &)> program, byte_count stack)
{
    turn_.start(
        [this, run = std::move(program)] {
            finish();
            run(*this);
        },
        stack);
}

void core::flush(phys_addr start, byte_count size)
{
    load_store_.flush(start, size);
    if (turn_.runs()) {
        finish();
    }
}

void core::maintain(phys_addr line, bool clean, bool invalidate)
{
    turn_.order();
    load_store_.maintain(line, clean, invalidate);
    finish();
}

void core::forget_instructions()
{
    turn_.order();
    fetch_.drop_all();
    finish();
}

void core::maintain_level(std::size_t level, phys_addr line, bool clean, bool invalidate)
{
    turn_.order();
    const picoseconds done = load_store_.bus().maintain(level, line, clean, invalidate);
    turn_.wait_until(done, stall_cause::maintenance);
    finish();
}

core_counts core::counts() const
{
    core_counts now;
    now.instructions = turn_.clock().executed();
    now.cycles = turn_.clock().cycles_without(turn_.idle());
    now.idle_ps = turn_.idle().value;
    now.stall_ps = turn_.stall_ps();
    for (std::size_t i = 0; i < core_event_count; ++i) {
        now.events[i] = count_of(static_cast<core_event>(i));
    }
    return now;
}

} // namespace bulkhead::machine
