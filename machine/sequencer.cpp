// SPDX-License-Identifier: Apache-2.0
// Waiting, signals and fibers of a core; see the header.
#include "machine/sequencer.h"

#include <algorithm>

namespace bulkhead::machine {

sequencer::sequencer(core_id id, const core_settings &wanted, engine &timeline)
    : id_(id), timeline_(timeline), clock_(wanted)
{
    timeline_.add(*this);
}

// --- Waiting ---

void sequencer::block(waiting what, picoseconds due)
{
    waits_ = what;
    due_ = due;
    timeline_.give_way(*this);
    waits_ = waiting::no;
}

void sequencer::wait_for_data(ticket which, stall_cause cause)
{
    waits_for_ = which;
    block(waiting::data, engine::never);
    wait_until(due_, cause);
}

void sequencer::wait_for_room(picoseconds at_latest, stall_cause cause)
{
    block(waiting::room, at_latest);
    wait_until(due_, cause);
}

void sequencer::wait_for_signal()
{
    clock_.settle();
    block(waiting::signal, signal_at_ == engine::never ? engine::never : std::max(clock_.now(), signal_at_));
    signal_at_ = engine::never;
    idle_ = idle_ + clock_.advance_to(due_);
    while (!standstills_.empty() && standstills_.front().when <= clock_.now()) {
        standstills_.pop_front(); // the core was idle at that time: nothing to stop
    }
}

void sequencer::signal(picoseconds when)
{
    signal_at_ = std::min(signal_at_, when);
    if (waits_ == waiting::signal) {
        wake(std::max(clock_.now(), signal_at_));
    } else if (runs()) {
        limit_changed();
    }
}

void sequencer::take_standstills()
{
    while (!standstills_.empty() && standstills_.front().when <= clock_.now()) {
        const picoseconds time = standstills_.front().time;
        standstills_.pop_front();
        wait_until(clock_.now() + time, stall_cause::maintenance);
        catch_up();
    }
}

// --- Fibers ---

void sequencer::run_on(fiber &next)
{
    fiber &from = *current_;
    current_ = &next;
    from.switch_to(next);
}

void sequencer::start(std::function<void()> program, byte_count stack)
{
    std::erase_if(started_, [](const std::unique_ptr<fiber> &one) { return one->ended(); });
    started_.push_back(std::make_unique<fiber>(
        [this, run = std::move(program)]() -> fiber & {
            resumed();
            run();
            clock_.settle();
            ended_ = true;
            left();
            return timeline_.after_end();
        },
        stack));
    current_ = started_.back().get();
    ended_ = false;
    clock_.advance_to(timeline_.now());
    wake(clock_.now());
}

} // namespace bulkhead::machine
