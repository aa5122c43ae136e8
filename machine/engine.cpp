// SPDX-License-Identifier: Apache-2.0
// The order of cores, devices and memory; see the header.
#include "machine/engine.h"

#include <algorithm>

#include "machine/budget.h"
#include "machine/core.h"

namespace bulkhead::machine {

void engine::add(core &one)
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
        running_->settle();
        running_->grant();
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
    return running_ != nullptr ? running_->clock() : event_time_;
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

// Lets happen what is due before the earliest core acts, and says which core that is, which has its turn
// then; null: none before the end of the run. A decision of DRAM at the same time as a core's request comes
// after it, an event before.
core *engine::earliest()
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
            event_time_ = decision; // what follows of it counts from here
            in_event_ = true;
            memory_.decide();
            in_event_ = false;
        } else {
            return when < until_ ? take_turn() : nullptr;
        }
    }
}

core *engine::take_turn()
{
    core *const next = cores_[turns_.take_first()];
    others_due_ = turns_.first_due();
    return next;
}

[[gnu::flatten]] void engine::give_way(core &mine)
{
    if (mine.due_ != never) {
        turns_.add(mine.id(), mine.due_);
    }
    core *const next = earliest();
    if (next == &mine) {
        return;
    }
    fiber &from = mine.current();
    running_ = next;
    from.switch_to(next == nullptr ? home_ : next->current());
    mine.resumed();
}

fiber &engine::after_end()
{
    core *const next = earliest();
    running_ = next;
    return next == nullptr ? home_ : next->current();
}

engine::ending engine::run(picoseconds until)
{
    until_ = until;
    stopping_ = false;
    find_edge();
    core *const next = earliest();
    if (next != nullptr) {
        running_ = next;
        home_.switch_to(next->current());
    }
    if (stopping_) {
        return ending::stopped;
    }
    return turns_.empty() && event_due() == never && memory_.next() == never ? ending::idle : ending::reached;
}

} // namespace bulkhead::machine
