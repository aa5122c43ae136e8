// SPDX-License-Identifier: Apache-2.0
// The time of one core: a number of femtoseconds, plus what was used of its budget (machine/budget.h) since
// that was granted. A core owns one (machine/sequencer.h); it knows nothing of other cores, and decides
// nothing: who grants says how far it may go.
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

    // Rounded up to picoseconds. `begun`: rounded down.
    [[nodiscard]] picoseconds now() const { return picoseconds{(fs() + 999) / 1000}; }
    [[nodiscard]] picoseconds begun() const { return picoseconds{fs() / 1000}; }
    [[nodiscard]] std::uint64_t executed() const { return instructions_ + used(); }
    [[nodiscard]] std::uint64_t cycles_without(picoseconds idle) const
    {
        return (fs() - idle.value * 1000) / cycle_fs_;
    }

    // --- By the core that runs. False: its budget is spent, and it must look at what else there is. ---

    [[nodiscard]] static bool execute(std::uint64_t count)
    {
        machine_running.budget -= static_cast<std::int64_t>(count);
        return machine_running.budget >= 0;
    }
    // The budget is what remains to the limit, so it shrinks too; at least as much as it must.
    [[nodiscard]] bool execute_load_use()
    {
        fs_ += load_use_fs_;
        machine_running.budget -= load_use_instructions_;
        granted_ -= load_use_instructions_;
        return machine_running.budget >= 0;
    }
    // Cycles beside the instructions; as above.
    [[nodiscard]] bool execute_cycles(std::uint32_t count)
    {
        const std::int64_t instructions = cycle_instructions_ * count;
        fs_ += cycle_fs_ * count;
        machine_running.budget -= instructions;
        granted_ -= instructions;
        return machine_running.budget >= 0;
    }

    // --- What was used of the budget becomes time; all below are called after it, and grant() at the end ---

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
    // Not back. Says how far that was.
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
    // A budget up to a time, and of so many instructions at most.
    void grant(picoseconds limit, std::uint64_t instructions)
    {
        granted_ = static_cast<std::int64_t>(std::min(budget_to(limit), instructions));
        machine_running.budget = granted_;
    }

    // --- By who changes the running core ---

    // The budget is not this core's any more. It was settled.
    void left() { runs_ = false; }
    // The core's bit for its fetches, from when it runs next on.
    void set_fetches(std::uint64_t bit) { fetches_ = bit; }
    // The budget is what another core left, or nobody.
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
    // How many instructions end before a time, or one less: a division would cost more than all the rest.
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
    std::uint64_t fs_ = 0;                  // as of when the budget was granted
    std::int64_t granted_ = 0;
    std::uint64_t fetches_ = 0;
    std::uint64_t instructions_ = 0; // as of then; not next to fs_: the compiler would change both as one
                                     // word, which is slow to read again
    bool runs_ = false;
};

} // namespace bulkhead::machine
