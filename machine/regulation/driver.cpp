// SPDX-License-Identifier: Apache-2.0
// Checks settings and starts the drivers of the cores; see the header.
#include "machine/regulation/driver.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace bulkhead::machine::regulation {

namespace {

std::string reason_of(reservation_error error)
{
    switch (error) {
    case RESERVATION_ERROR_NONE:
        return "";
    case RESERVATION_ERROR_SLACK:
        return "only a sum has a slack";
    case RESERVATION_ERROR_PERIOD:
        return "a limit needs a period";
    case RESERVATION_ERROR_LIMIT:
        return "a limit is out of range";
    default:
        return "an impossible kind of budget";
    }
}

std::string reason_of(regulator_error error)
{
    switch (error) {
    case REGULATOR_ERROR_NONE:
        return "";
    case REGULATOR_ERROR_THRESHOLD:
        return "the threshold is out of range";
    case REGULATOR_ERROR_TRAFFIC:
        return "the threshold of traffic is out of range";
    case REGULATOR_ERROR_HORIZON:
        return "the horizon is out of range";
    case REGULATOR_ERROR_DELAY:
        return "a regulated core has no delay, or 0";
    case REGULATOR_ERROR_STEP:
        return "the step is out of range";
    case REGULATOR_ERROR_INTERVAL:
        return "the interval is out of range";
    case REGULATOR_ERROR_CORES:
        return "no core is regulated";
    case REGULATOR_ERROR_BUDGET:
        return "an initial budget is out of range";
    case REGULATOR_ERROR_FLOOR:
        return "the floor is 0, or above an initial budget";
    case REGULATOR_ERROR_CEILING:
        return "the ceiling is out of range, or below the initial budgets";
    case REGULATOR_ERROR_SATURATION:
        return "the limits of real-time cores reach the saturation";
    default:
        return "an impossible policy";
    }
}

std::string problem_of(const core_budget &one, std::size_t core_count)
{
    const std::size_t counters = one.kind == RESERVATION_ONE ? 1 : RESERVATION_COUNTERS;
    const std::size_t limits = one.kind == RESERVATION_EACH ? RESERVATION_COUNTERS : 1;
    if (one.core >= core_count) {
        return "there is no such core";
    }
    if (one.events.size() != counters || one.limits.size() != limits) {
        return "so many events and limits do not go with its kind";
    }
    if (counters == 2 && one.events[0] == one.events[1]) {
        return "counts the same event twice";
    }
    reservation_parameters parameters{};
    parameters.kind = one.kind;
    parameters.counter_bits = event_unit::bits;
    std::ranges::copy(one.limits, std::begin(parameters.limit_events));
    parameters.slack_events = one.slack_events;
    parameters.grid.length_ticks = one.period_ps;
    return reason_of(reservation_check(&parameters));
}

// The regulated cores, and their limits.
regulator_parameters completed(const settings &wanted)
{
    regulator_parameters made = *wanted.regulator;
    made.regulated = 0;
    std::ranges::fill(made.budget_events, REGULATOR_UNLIMITED);
    for (const core_budget &one : wanted.budgets) {
        made.budget_events[one.core] = one.limits.front();
        made.regulated |= one.regulated ? 1U << one.core : 0U;
    }
    return made;
}

std::string problem_of(const settings &wanted, std::size_t core_count)
{
    std::vector<bool> seen(core_count, false);
    for (const core_budget &one : wanted.budgets) {
        const std::string where = "budget of core " + std::to_string(one.core) + ": ";
        if (const std::string why = problem_of(one, core_count); !why.empty()) {
            return where + why;
        }
        if (seen[one.core]) {
            return where + "it has another one";
        }
        seen[one.core] = true;
        if (one.regulated && (!wanted.regulator || one.core >= REGULATOR_MAX_CORES)) {
            return where + "nothing can regulate it";
        }
        if (one.regulated && (one.kind == RESERVATION_EACH || one.limits.front() == RESERVATION_UNLIMITED ||
                              one.period_ps != wanted.regulator->interval_ticks)) {
            return where + "a regulated one has one limit, and the interval as its period";
        }
    }
    if (wanted.cost.lines != 0 && wanted.cost.data.size() != core_count) {
        return "cost.data: an address for each core is needed";
    }
    if (!wanted.regulator) {
        return "";
    }
    if (core_count > REGULATOR_MAX_CORES) {
        return "regulator: of at most " + std::to_string(REGULATOR_MAX_CORES) + " cores";
    }
    const regulator_parameters parameters = completed(wanted);
    const std::string why = reason_of(regulator_check(&parameters));
    return why.empty() ? why : "regulator: " + why;
}

// A budget of an event that never occurs would limit nothing.
std::string uncounted_event(const settings &wanted, simulated_machine &of)
{
    for (const core_budget &one : wanted.budgets) {
        const bool of_l3 = std::ranges::find(one.events, core_event::l3d_refill) != one.events.end();
        if (of_l3 && !of.core_at({one.core}).has_l3()) {
            return "budget of core " + std::to_string(one.core) +
                   ": it counts no l3d_refill, because no shared level lies behind its second level";
        }
    }
    return "";
}

} // namespace

result<std::unique_ptr<driver>> driver::make(simulated_machine &of, const settings &wanted, picoseconds start)
{
    if (const std::string why = problem_of(wanted, of.core_count()); !why.empty()) {
        return refusal{why};
    }
    if (const std::string why = uncounted_event(wanted, of); !why.empty()) {
        return refusal{why};
    }
    if (!wanted.regulator) {
        return std::unique_ptr<driver>(new driver(of, wanted, nullptr, start));
    }
    const regulator_parameters parameters = completed(wanted);
    return std::unique_ptr<driver>(new driver(of, wanted, &parameters, start));
}

driver::driver(simulated_machine &of, const settings &wanted, const regulator_parameters *regulator,
               picoseconds start)
    : start_(start)
{
    if (wanted.sample_ps != 0) {
        series_ =
            std::make_unique<recorder>(of, start, picoseconds{wanted.sample_ps},
                                       [this](core_id which, picoseconds now) { return look(which, now); });
    }
    if (regulator != nullptr) {
        shared_ = std::make_unique<shared_regulator>(of.memory(), *regulator,
                                                     of.made_from().cores.front().l1d.line_bytes, start);
    }
    const auto published = [this](const core_driver &by, std::uint32_t changed, picoseconds when) {
        for (const auto &one : cores_) {
            if (one.get() != &by && one->is_in(changed)) {
                one->tell(when);
            }
        }
    };
    const core_driver::surroundings around{.timeline = of.timeline(),
                                           .cost = wanted.cost,
                                           .latency = picoseconds{of.made_from().signals.interrupt_ps},
                                           .start = start,
                                           .published = published};
    for (const core_budget &one : wanted.budgets) {
        cores_.push_back(std::make_unique<core_driver>(of.core_at(core_id{one.core}), one,
                                                       one.regulated ? shared_.get() : nullptr, around));
    }
}

core_sample driver::look(core_id which, picoseconds now) const
{
    for (const auto &one : cores_) {
        if (one->own().id() == which) {
            const reservation &state = one->state();
            return {.lines = 0,
                    .limit = state.granted_events[0],
                    .used = one->used(),
                    .throttled_ps = reservation_throttled_ticks(&state, now.value)};
        }
    }
    return {.lines = 0, .limit = RESERVATION_UNLIMITED, .used = 0, .throttled_ps = 0};
}

} // namespace bulkhead::machine::regulation
