// SPDX-License-Identifier: Apache-2.0
// The order of cores, devices and memory; see the header.
#include "machine/engine.h"

#include <algorithm>

#include "machine/sequencer.h"

namespace bulkhead::machine {

void engine::add(sequencer &one)
{
    cores_.push_back(&one);
}

engine::event_id engine::at(picoseconds when, event what)
{
    const event_id id = next_event_++;
    events_.push_back({std::max(when, now()), id, std::move(what)});
    std::push_heap(events_.begin(), events_.end());
    find_edge();
    if (running_ != nullptr) {
        running_->limit_changed();
    }
    return id;
}

void engine::cancel(event_id which)
{
    for (timed &one : events_) {
        if (one.id == which) {
            one.what = nullptr;
        }
    }
}

picoseconds engine::now() const
{
    if (in_event_) {
        return event_time_;
    }
    return running_ != nullptr ? running_->now() : event_time_;
}

void engine::run_event()
{
    std::pop_heap(events_.begin(), events_.end());
    const timed next = std::move(events_.back());
    events_.pop_back();
    find_edge();
    if (!next.what) {
        return;
    }
    event_time_ = next.when;
    in_event_ = true;
    next.what();
    in_event_ = false;
}

// Runs everything that is due before the earliest core acts. Returns that core, which then has its turn;
// null: no core acts before the end of the run. At the same time an event precedes a core's request, which
// precedes a decision of DRAM.
sequencer *engine::earliest()
{
    for (;;) {
        const picoseconds when = turns_.first_due();
        const picoseconds decision = memory_.next();
        if (when < edge_ && when <= decision) [[likely]] {
            return take_turn();
        }
        if (stopping_) {
            return nullptr;
        }
        const picoseconds timed_event = event_due();
        if (timed_event <= when && timed_event <= decision && timed_event < until_) {
            run_event();
        } else if (decision < when && decision < until_) {
            event_time_ = decision; // times of the events that it causes count from here
            in_event_ = true;
            memory_.decide();
            in_event_ = false;
        } else {
            return when < until_ ? take_turn() : nullptr;
        }
    }
}

sequencer *engine::take_turn()
{
    sequencer *const next = cores_[turns_.take_first()];
    others_due_ = turns_.first_due();
    return next;
}

// The fiber that runs next.
inline fiber &engine::change_to(sequencer *next)
{
    running_ = next;
    return next == nullptr ? home_ : next->current();
}

[[gnu::flatten]] void engine::give_way(sequencer &mine)
{
    if (mine.due() != never) {
        turns_.add(mine.id(), mine.due());
    }
    sequencer *const next = earliest();
    if (next == &mine) {
        return;
    }
    mine.left();
    mine.current().switch_to(change_to(next));
    mine.resumed();
}

fiber &engine::after_end()
{
    return change_to(earliest());
}

engine::ending engine::run(picoseconds until)
{
    until_ = until;
    stopping_ = false;
    find_edge();
    sequencer *const next = earliest();
    if (next != nullptr) {
        home_.switch_to(change_to(next));
    }
    if (stopping_) {
        return ending::stopped;
    }
    return turns_.empty() && event_due() == never && memory_.next() == never ? ending::idle : ending::reached;
}

} // namespace bulkhead::machine
