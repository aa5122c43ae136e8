// SPDX-License-Identifier: Apache-2.0
// Decides when a core acts: its clock, its turn among the other cores, devices and memory, what it waits for,
// and the fiber that runs on it. A core owns one (machine/core.h); the engine (machine/engine.h) orders them.
// It knows nothing of what the core executes or accesses.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "machine/core_clock.h"
#include "machine/core_counts.h"
#include "machine/engine.h"
#include "machine/fiber.h"

namespace bulkhead::machine {

class sequencer {
public:
    using ticket = memory_client::ticket;

    sequencer(core_id id, const core_settings &wanted, engine &timeline);
    sequencer(const sequencer &) = delete;
    sequencer &operator=(const sequencer &) = delete;

    [[nodiscard]] core_id id() const { return id_; }
    [[nodiscard]] core_clock &clock() { return clock_; }
    [[nodiscard]] const core_clock &clock() const { return clock_; }
    [[nodiscard]] picoseconds now() const { return clock_.now(); }
    [[nodiscard]] picoseconds settled() const { return clock_.settled(); }
    [[nodiscard]] bool runs() const { return clock_.runs(); }

    // --- For the software on the core ---

    // Returns when everything that is due before this core's clock has happened and no other core can act
    // before it any more. Returns that time.
    picoseconds order()
    {
        clock_.settle();
        const picoseconds now = clock_.settled();
        if (!timeline_.none_before(now)) {
            due_ = now;
            timeline_.give_way(*this);
        }
        return now;
    }
    // Calls order() if the clock has reached the limit up to which it may run ahead. The clock must be
    // settled.
    void catch_up()
    {
        if (timeline_.private_limit() <= clock_.settled()) {
            order();
        }
    }
    void wait_until(picoseconds when, stall_cause cause)
    {
        stall_ps_[static_cast<std::size_t>(cause)] += clock_.advance_to(when).value;
    }
    void stall_cycles(std::uint32_t cycles, stall_cause cause)
    {
        stall_ps_[static_cast<std::size_t>(cause)] += clock_.of_cycles(cycles).value;
        clock_.settle();
        clock_.add_cycles(cycles);
    }
    // Waits until arrived() has given the time of the ticket's data and that time has come. The core is in
    // order afterwards; so it is after the two functions below.
    void wait_for_data(ticket which, stall_cause cause);
    // Waits until room() has given a time and that time has come, or until `at_latest`.
    void wait_for_room(picoseconds at_latest, stall_cause cause);
    // Waits for signal(); returns at once if a signal arrived that attend() has not handled.
    void wait_for_signal();

    // Handles what is due between two instructions: stalls for other cores' broadcasts, and the attend
    // function.
    void between_instructions()
    {
        if (!standstills_.empty()) [[unlikely]] {
            take_standstills();
        }
        if (attend_ && signal_at_ <= clock_.settled()) {
            signal_at_ = engine::never;
            attend_();
        }
    }
    // Grants a budget that lasts up to the next due event, and for at most `instructions`.
    void grant(std::uint64_t instructions)
    {
        clock_.grant(limit(), instructions);
        last_instruction_ = clock_.instructions() + instructions;
    }

    // --- Called from outside ---

    void arrived(ticket which, picoseconds when)
    {
        if (waits_ == waiting::data && waits_for_ == which) {
            wake(std::max(clock_.now(), when));
        }
    }
    void room(picoseconds when)
    {
        if (waits_ == waiting::room) {
            wake(std::min(due_, std::max(clock_.now(), when)));
        }
    }
    void signal(picoseconds when);
    void stand_still(picoseconds when, picoseconds time) { standstills_.push_back({when, time}); }
    void set_attend(std::function<void()> attend) { attend_ = std::move(attend); }

    // --- Fibers ---

    // Starts a first program on its own fiber, at the engine's time or the core's time, whichever is later.
    // When it returns, the core has ended.
    void start(std::function<void()> program, byte_count stack);
    void run_on(fiber &next);
    [[nodiscard]] fiber &current() { return *current_; }
    [[nodiscard]] bool ended() const { return ended_; }

    // --- For the engine ---

    // When the core acts next, while others run; never: when it is woken.
    [[nodiscard]] picoseconds due() const { return due_; }
    void left() { clock_.left(); }
    void resumed() { clock_.resumed(); }
    // A new event is due: shortens the budget of the running core so that it does not pass the event.
    void limit_changed()
    {
        clock_.settle();
        const std::uint64_t executed = clock_.instructions();
        clock_.grant(limit(), last_instruction_ <= executed ? 0 : last_instruction_ - executed);
    }

    // --- Counts ---

    [[nodiscard]] picoseconds idle() const { return idle_; }
    [[nodiscard]] const std::array<std::uint64_t, stall_cause_count> &stall_ps() const { return stall_ps_; }

private:
    enum class waiting : std::uint8_t { no, data, room, signal };
    struct standstill {
        picoseconds when;
        picoseconds time;
    };

    [[nodiscard]] picoseconds limit() const
    {
        picoseconds limit = timeline_.private_limit();
        if (attend_) {
            limit = std::min(limit, signal_at_);
        }
        if (!standstills_.empty()) {
            limit = std::min(limit, standstills_.front().when);
        }
        return limit;
    }
    // The core acts next at `when`.
    void wake(picoseconds when)
    {
        due_ = when;
        timeline_.wake(id_, when);
    }
    void block(waiting what, picoseconds due);
    void take_standstills();

    core_id id_;
    engine &timeline_;
    core_clock clock_;
    picoseconds due_ = engine::never;
    waiting waits_ = waiting::no;
    ticket waits_for_ = 0;
    std::uint64_t last_instruction_ = 0; // count of instructions up to which the core may execute
    picoseconds signal_at_ = engine::never;
    std::function<void()> attend_;
    std::deque<standstill> standstills_; // future stalls, in order of time

    std::vector<std::unique_ptr<fiber>> started_;
    fiber *current_ = nullptr;
    bool ended_ = true;

    picoseconds idle_{}; // in wait_for_signal()
    std::array<std::uint64_t, stall_cause_count> stall_ps_{};
};

} // namespace bulkhead::machine
