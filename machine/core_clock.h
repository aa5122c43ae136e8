// SPDX-License-Identifier: Apache-2.0
// The clock of one core, in femtoseconds: the time when the budget (machine/budget.h) was granted, plus the
// part of the budget that was used since. A core owns one (machine/sequencer.h). It knows no other cores and
// decides nothing: the caller of grant() says how far the core may run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/budget.h"
#include "machine/settings.h"
#include "machine/time.h"

namespace bulkhead::machine {

class core_clock {
public:
    explicit core_clock(const core_settings &wanted)
        : instruction_fs_(fs_per_s / 1000 * wanted.instruction_millicycles / wanted.frequency_hz),
          cycle_fs_(fs_per_s / wanted.frequency_hz), load_use_fs_(cycle_fs_ * wanted.load_use_cycles),
          load_use_instructions_(
              static_cast<std::int64_t>((load_use_fs_ + instruction_fs_ - 1) / instruction_fs_)),
          cycle_instructions_(static_cast<std::int64_t>((cycle_fs_ + instruction_fs_ - 1) / instruction_fs_)),
          instructions_reciprocal_(~std::uint64_t{0} / instruction_fs_)
    {
    }

    // now(): rounded up to picoseconds. begun(): rounded down.
    [[nodiscard]] picoseconds now() const { return picoseconds{(fs() + 999) / 1000}; }
    [[nodiscard]] picoseconds begun() const { return picoseconds{fs() / 1000}; }
    [[nodiscard]] std::uint64_t executed() const { return instructions_ + used(); }
    [[nodiscard]] std::uint64_t cycles_without(picoseconds idle) const
    {
        return (fs() - idle.value * 1000) / cycle_fs_;
    }

    // --- Called by the running core. False: its budget is spent, and it must check what else is due. ---

    [[nodiscard]] static bool execute(std::uint64_t count)
    {
        machine_running.budget -= static_cast<std::int64_t>(count);
        return machine_running.budget >= 0;
    }
    // Adds the load-use penalty. The budget is what remains up to the limit, so it shrinks by at least as
    // much time.
    [[nodiscard]] bool execute_load_use()
    {
        fs_ += load_use_fs_;
        machine_running.budget -= load_use_instructions_;
        granted_ -= load_use_instructions_;
        return machine_running.budget >= 0;
    }
    // Adds cycles on top of those of the instructions; the budget shrinks as above.
    [[nodiscard]] bool execute_cycles(std::uint32_t count)
    {
        const std::int64_t instructions = cycle_instructions_ * count;
        fs_ += cycle_fs_ * count;
        machine_running.budget -= instructions;
        granted_ -= instructions;
        return machine_running.budget >= 0;
    }

    // --- settle() turns the used part of the budget into time. All functions below are called after it, and
    // grant() at the end. ---

    void settle()
    {
        const auto spent = static_cast<std::uint64_t>(granted_ - machine_running.budget);
        instructions_ += spent;
        fs_ += spent * instruction_fs_;
        granted_ = machine_running.budget;
    }
    [[nodiscard]] picoseconds settled() const { return picoseconds{(fs_ + 999) / 1000}; }
    [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
    void add(picoseconds time) { fs_ += time.value * 1000; }
    void add_load_use() { fs_ += load_use_fs_; }
    void add_cycles(std::uint64_t count) { fs_ += count * cycle_fs_; }
    [[nodiscard]] picoseconds of_cycles(std::uint64_t count) const
    {
        return picoseconds{count * cycle_fs_ / 1000};
    }
    // Never moves the clock back. Returns by how much it moved.
    picoseconds advance_to(picoseconds when)
    {
        const std::uint64_t when_fs = when.value * 1000;
        if (when_fs <= fs_) {
            return picoseconds{0};
        }
        const picoseconds passed{(when_fs - fs_) / 1000};
        fs_ = when_fs;
        return passed;
    }
    // Grants a budget that lasts up to a time, and for at most `instructions`.
    void grant(picoseconds limit, std::uint64_t instructions)
    {
        granted_ = static_cast<std::int64_t>(std::min(budget_to(limit), instructions));
        machine_running.budget = granted_;
    }

    // --- Called when the running core changes ---

    // The budget no longer belongs to this core. The clock was settled before.
    void left() { runs_ = false; }
    // Sets the core's bit for its fetches; takes effect when it runs next.
    void set_fetches(std::uint64_t bit) { fetches_ = bit; }
    // This core runs now: takes over the budget that another core, or none, has left.
    void resumed()
    {
        granted_ = machine_running.budget;
        machine_running.fetches = fetches_;
        runs_ = true;
    }
    [[nodiscard]] bool runs() const { return runs_; }

private:
    static constexpr std::uint64_t fs_per_s = 1'000'000'000'000'000;

    [[nodiscard]] std::uint64_t used() const
    {
        return runs_ ? static_cast<std::uint64_t>(granted_ - machine_running.budget) : 0;
    }
    [[nodiscard]] std::uint64_t fs() const { return fs_ + used() * instruction_fs_; }
    // How many instructions end before a time, or one less: an exact division would cost more than the rest
    // of grant().
    [[nodiscard]] std::uint64_t budget_to(picoseconds limit) const
    {
        __extension__ using wide = unsigned __int128;
        constexpr std::uint64_t most_ps = ~std::uint64_t{0} / 1000;
        const std::uint64_t limit_fs = std::min(limit.value, most_ps) * 1000;
        const std::uint64_t left_fs = std::max(limit_fs, fs_) - fs_;
        return static_cast<std::uint64_t>(static_cast<wide>(left_fs) * instructions_reciprocal_ >> 64U);
    }

    std::uint64_t instruction_fs_;
    std::uint64_t cycle_fs_;
    std::uint64_t load_use_fs_;
    std::int64_t load_use_instructions_;
    std::int64_t cycle_instructions_;
    std::uint64_t instructions_reciprocal_; // 2^64 / instruction_fs_, rounded down
    std::uint64_t fs_ = 0;                  // when the budget was granted
    std::int64_t granted_ = 0;
    std::uint64_t fetches_ = 0;
    std::uint64_t instructions_ = 0; // at that time; not next to fs_: the compiler would change both as one
                                     // word, which is slow to read again
    bool runs_ = false;
};

} // namespace bulkhead::machine
