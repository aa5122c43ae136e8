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
    due_.push_back(never);
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
    cancelled_.insert(which);
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
    if (cancelled_.erase(next.id) != 0) {
        return;
    }
    event_time_ = next.when;
    in_event_ = true;
    next.what();
    in_event_ = false;
}

// Lets happen what is due before the earliest core acts, and says which core that is; null: none before the
// end of the run. A decision of DRAM at the same time as a core's request comes after it, an event before.
core *engine::earliest()
{
    for (;;) {
        std::size_t first = 0;
        picoseconds when = due_[0];
        picoseconds others = never;
        for (std::size_t i = 1; i < due_.size(); ++i) {
            const picoseconds due = due_[i];
            const bool earlier = due < when;
            others = std::min(others, earlier ? when : due);
            first = earlier ? i : first;
            when = earlier ? due : when;
        }
        others_due_ = others;
        const picoseconds decision = memory_.next();
        if (when < edge_ && when <= decision) [[likely]] {
            return cores_[first];
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
            return when < until_ ? cores_[first] : nullptr;
        }
    }
}

[[gnu::flatten]] void engine::give_way(core &mine)
{
    core *const next = earliest();
    if (next == &mine) {
        return;
    }
    fiber &from = mine.current();
    running_ = next;
    from.switch_to(next == nullptr ? home_ : next->current());
    mine.resumed();
}

fiber &engine::after(core &ended)
{
    due_[ended.id().value] = never;
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
    for (const picoseconds due : due_) {
        if (due != never) {
            return ending::reached;
        }
    }
    return event_due() == never && memory_.next() == never ? ending::idle : ending::reached;
}

} // namespace bulkhead::machine
