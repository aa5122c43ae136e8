// SPDX-License-Identifier: Apache-2.0
// Stops the counters, calls the budget's functions, and executes their answer; see the header.
#include "machine/regulation/core_driver.h"

#include <algorithm>
#include <iterator>

namespace bulkhead::machine::regulation {

namespace {

reservation_parameters parameters_of(const core_budget &wanted, picoseconds start)
{
    reservation_parameters made{};
    made.kind = wanted.kind;
    made.counter_bits = event_unit::bits;
    std::ranges::copy(wanted.limits, std::begin(made.limit_events));
    made.slack_events = wanted.slack_events;
    made.grid = {.number = 0, .start_ticks = start.value, .length_ticks = wanted.period_ps};
    made.keep_running = wanted.keep_running;
    return made;
}

} // namespace

core_driver::core_driver(core &own, const core_budget &wanted, shared_regulator *shared,
                         const surroundings &around)
    : own_(own), timeline_(around.timeline), cost_(around.cost), latency_(around.latency), shared_(shared),
      published_(around.published)
{
    const reservation_parameters parameters = parameters_of(wanted, around.start);
    (void)budget_init(&budget_, &parameters, nullptr);
    if (shared_ != nullptr) {
        (void)regulated_init(&regulated_.emplace(), &budget_, &shared_->exchange(), wanted.core);
    }
    for (const core_event which : wanted.events) {
        counters_.push_back(std::make_unique<event_unit>(own_, which, [this] {
            overflow_at_ = std::min(overflow_at_, own_.clock() + latency_);
            own_.signal(overflow_at_);
        }));
    }
    own_.set_attend([this] { attend(); });
    budget_start(&budget_, around.start.value);
    obey(budget_load(&budget_, around.start.value));
    set_timer();
    if (!runs_) {
        own_.signal(around.start);
    }
}

void core_driver::tell(picoseconds when)
{
    message_at_ = std::min(message_at_, when);
    own_.signal(when);
}

std::uint64_t core_driver::used() const
{
    std::uint64_t events = budget_.reservation.statistics.events;
    for (const auto &one : counters_) {
        events += one->counted();
    }
    return events;
}

// Takes interrupts until none is pending and the core may run. Time that a handler spends may call this
// function again.
void core_driver::attend()
{
    if (attending_) {
        return;
    }
    attending_ = true;
    bool interrupted = false;
    for (;;) {
        if (take_one(own_.order())) {
            interrupted = true;
        } else if (runs_) {
            break;
        } else {
            signal_next();
            own_.wait();
        }
    }
    if (interrupted) {
        own_.spend(picoseconds{cost_.exit_ps});
        taken_.time_ps += cost_.exit_ps;
    }
    attending_ = false;
    signal_next();
}

// Sets the core's only signal again, since an earlier event has used it.
void core_driver::signal_next()
{
    const picoseconds next = std::min({overflow_at_, period_at_, message_at_});
    if (next != engine::never) {
        own_.signal(std::max(next, own_.clock()));
    }
}

bool core_driver::take_one(picoseconds now)
{
    if (overflow_at_ <= now) {
        overflow_at_ = engine::never;
        overflow();
    } else if (period_at_ <= now) {
        period_at_ = engine::never;
        period();
    } else if (message_at_ <= now) {
        message_at_ = engine::never;
        message();
    } else {
        return false;
    }
    taken_.time_ps += (own_.clock() - now).value;
    return true;
}

// Performs the exception entry and the handler up to where it stops the counters. Returns that time.
picoseconds core_driver::enter(std::uint32_t instructions)
{
    own_.spend(picoseconds{cost_.entry_ps});
    own_.instructions(instructions);
    if (!cost_.data.empty()) {
        const std::uint64_t line_bytes = own_.settings().l1d.line_bytes;
        const std::uint64_t data = cost_.data.at(own_.id().value);
        for (std::uint32_t line = 0; line < cost_.lines; ++line) {
            own_.access(phys_addr{data + line * line_bytes}, 8,
                        line % 2 == 0 ? access_kind::read : access_kind::write);
        }
    }
    return own_.order();
}

core_driver::readings core_driver::stop()
{
    readings found{};
    for (std::size_t i = 0; i < counters_.size(); ++i) {
        found.at(i) = counters_[i]->stop();
    }
    overflow_at_ = engine::never; // stopping the counters clears the overflow flag
    return found;
}

void core_driver::obey(budget_action action)
{
    runs_ = action.runs;
    for (std::size_t i = 0; runs_ && i < counters_.size(); ++i) {
        counters_[i]->start(action.preload[i]);
    }
}

void core_driver::set_timer()
{
    const std::uint64_t deadline = budget_deadline(&budget_);
    const picoseconds when = deadline == BUDGET_NO_DEADLINE ? engine::never : picoseconds{deadline};
    if (when == deadline_) {
        return;
    }
    if (deadline_ != engine::never) {
        timeline_.cancel(timer_event_);
    }
    deadline_ = when;
    if (when != engine::never) {
        timer_event_ = timeline_.at(when, [this, when] {
            deadline_ = engine::never;
            if (own_.ended()) {
                leave();
                return;
            }
            period_at_ = when + latency_;
            own_.signal(period_at_);
        });
    }
}

// The program on the core has ended, so the core takes no more interrupts. If the others have been waiting
// for this core alone, they keep their budgets for one more interval.
void core_driver::leave()
{
    std::uint64_t number = 0;
    if (shared_ != nullptr) {
        const reservation &own = budget_.reservation;
        budget_save(&budget_, stop().data());
        regulator_exchange_note(&shared_->exchange(), regulated_->index, own.period.number,
                                own.used_events[0], own.spent);
        (void)regulator_exchange_leave(&shared_->exchange(), regulated_->index, &number);
    }
}

void core_driver::overflow()
{
    ++taken_.overflows;
    const picoseconds now = enter(cost_.overflow_instructions);
    obey(budget_overflow(&budget_, now.value, stop().data()));
}

void core_driver::period()
{
    ++taken_.periods;
    const picoseconds now = enter(cost_.period_instructions);
    if (!regulated_) {
        obey(budget_timer(&budget_, now.value, stop().data()));
        set_timer();
        return;
    }
    regulator_sample sample{};
    picoseconds then = now;
    if (regulated_timer(&*regulated_, now.value, stop().data(), &sample)) {
        own_.instructions(cost_.step_instructions);
        then = own_.order();
        const std::uint32_t changed = shared_->step(*regulated_, sample, then);
        published_(*this, changed, then + latency_);
    }
    obey(regulated_load(&*regulated_, then.value));
    set_timer();
}

void core_driver::message()
{
    ++taken_.messages;
    const picoseconds now = enter(cost_.message_instructions);
    budget_save(&budget_, stop().data());
    obey(regulated_load(&*regulated_, now.value));
    set_timer();
}

} // namespace bulkhead::machine::regulation
