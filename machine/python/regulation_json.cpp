// SPDX-License-Identifier: Apache-2.0
// Reads budgets and regulators; see the header. The JSON library throws exceptions, which are caught here.
#include "machine/python/regulation_json.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/regulator_policy.h"

namespace bulkhead::machine {

namespace {

using nlohmann::json;
using namespace regulation;

template <class T> T one_of(const json &value, const std::map<std::string, T> &known)
{
    const auto found = known.find(value.get<std::string>());
    if (found == known.end()) {
        throw std::runtime_error("'" + value.get<std::string>() + "' is not known here");
    }
    return found->second;
}

const std::map<std::string, core_event> &events()
{
    static const std::map<std::string, core_event> known = [] {
        std::map<std::string, core_event> made;
        for (std::size_t i = 0; i < core_event_count; ++i) {
            made.emplace(name_of(static_cast<core_event>(i)), static_cast<core_event>(i));
        }
        return made;
    }();
    return known;
}

std::uint64_t number(const json &value)
{
    if (!value.is_number_unsigned()) {
        throw std::runtime_error("is no whole number from 0 on");
    }
    return value.get<std::uint64_t>();
}

// In JSON, null means no limit.
std::uint64_t limit(const json &value)
{
    return value.is_null() ? RESERVATION_UNLIMITED : number(value);
}

void read_budget(core_budget &into, const std::string &key, const json &value)
{
    if (key == "core") {
        value.get_to(into.core);
    } else if (key == "kind") {
        into.kind = one_of<reservation_kind>(
            value, {{"one", RESERVATION_ONE}, {"each", RESERVATION_EACH}, {"sum", RESERVATION_SUM}});
    } else if (key == "events") {
        for (const json &one : value) {
            into.events.push_back(one_of(one, events()));
        }
    } else if (key == "limits") {
        for (const json &one : value) {
            into.limits.push_back(limit(one));
        }
    } else if (key == "slack_events") {
        into.slack_events = number(value);
    } else if (key == "period_ps") {
        into.period_ps = number(value);
    } else if (key == "regulated") {
        value.get_to(into.regulated);
    } else if (key == "keep_running") {
        value.get_to(into.keep_running);
    } else {
        throw std::runtime_error("no budget has this");
    }
}

std::uint32_t policy_of(const json &value)
{
    const std::string wanted = value.get<std::string>();
    for (std::uint32_t number = 0; number < REGULATOR_POLICY_COUNT; ++number) {
        if (wanted == regulator_policy_at(number)->name) {
            return number;
        }
    }
    throw std::runtime_error("'" + wanted + "' is no policy");
}

void read_regulator(feedback &into, const std::string &key, const json &value)
{
    if (key == "policy") {
        into.policy = policy_of(value);
    } else if (key == "hold") {
        into.hold = one_of<regulator_hold>(
            value, {{"keep", REGULATOR_HOLD_KEEP}, {"decrease", REGULATOR_HOLD_DECREASE}});
    } else if (key == "threshold") {
        value.get_to(into.threshold);
    } else if (key == "step") {
        value.get_to(into.step);
    } else if (key == "bandwidth_threshold_events") {
        into.bandwidth_threshold_events = number(value);
    } else if (key == "interval_ps") {
        into.interval_ticks = number(value);
    } else if (key == "floor_events") {
        into.floor_events = number(value);
    } else if (key == "ceiling_events") {
        into.ceiling_events = number(value);
    } else if (key == "saturation_events") {
        into.saturation_events = number(value);
    } else if (key == "horizon_intervals") {
        value.get_to(into.horizon_intervals);
    } else if (key == "event_delays_ps") { // of an interval that may follow: converted when all keys are read
        value.get_to(into.event_delays);
    } else {
        throw std::runtime_error("no regulator has this");
    }
}

void read_cost(interrupt_cost &into, const std::string &key, const json &value)
{
    if (key == "entry_ps") {
        into.entry_ps = number(value);
    } else if (key == "exit_ps") {
        into.exit_ps = number(value);
    } else if (key == "overflow_instructions") {
        value.get_to(into.overflow_instructions);
    } else if (key == "period_instructions") {
        value.get_to(into.period_instructions);
    } else if (key == "step_instructions") {
        value.get_to(into.step_instructions);
    } else if (key == "message_instructions") {
        value.get_to(into.message_instructions);
    } else if (key == "lines") {
        value.get_to(into.lines);
    } else if (key == "data") {
        value.get_to(into.data);
    } else {
        throw std::runtime_error("no cost has this");
    }
}

// Reads each key of an object; names the key that is wrong.
template <class T>
void read_all(T &into, const json &object, const std::string &where, std::string &at,
              void (*read)(T &, const std::string &, const json &))
{
    at = where;
    if (!object.is_object()) {
        throw std::runtime_error("is no object");
    }
    for (const auto &[key, value] : object.items()) {
        at = where + "." + key;
        read(into, key, value);
    }
}

json of_budget(const core_driver &one, picoseconds now)
{
    const reservation_statistics &counted = one.state().statistics;
    const core_driver::interrupts &taken = one.taken();
    return {{"core", one.own().id().value},
            {"events", one.used()},
            {"periods", counted.periods},
            {"spent_periods", counted.spent_periods},
            {"throttled_periods", counted.throttled_periods},
            {"throttled_ps", reservation_throttled_ticks(&one.state(), now.value)},
            {"overshoot_periods", counted.overshoot_periods},
            {"overshoot_events", counted.overshoot_events},
            {"overshoot_max_events", counted.overshoot_max_events},
            {"period_max_events", counted.period_max_events},
            {"interrupts",
             {{"overflows", taken.overflows},
              {"periods", taken.periods},
              {"messages", taken.messages},
              {"time_ps", taken.time_ps}}}};
}

json of_series(const recorder &series)
{
    json cores = json::array();
    json found = {{"end_ps", json::array()},
                  {"busy_cycles", json::array()},
                  {"cycles", json::array()},
                  {"read_bytes", json::array()},
                  {"written_bytes", json::array()}};
    for (const interval_sample &one : series.intervals()) {
        found["end_ps"].push_back(one.end_ps);
        found["busy_cycles"].push_back(one.busy_cycles);
        found["cycles"].push_back(one.cycles);
        found["read_bytes"].push_back(one.read_bytes);
        found["written_bytes"].push_back(one.written_bytes);
        for (std::size_t i = 0; i < one.cores.size(); ++i) {
            if (cores.size() <= i) {
                cores.push_back({{"lines", json::array()},
                                 {"limit", json::array()},
                                 {"used", json::array()},
                                 {"throttled_ps", json::array()}});
            }
            const core_sample &own = one.cores[i];
            cores[i]["lines"].push_back(own.lines);
            cores[i]["limit"].push_back(own.limit == RESERVATION_UNLIMITED ? json(nullptr) : json(own.limit));
            cores[i]["used"].push_back(own.used);
            cores[i]["throttled_ps"].push_back(own.throttled_ps);
        }
    }
    found["cores"] = std::move(cores);
    return found;
}

} // namespace

result<regulation::settings> regulation_from_json(const std::string &text)
{
    regulation::settings made;
    std::string at = "regulation";
    try {
        const json object = json::parse(text);
        for (const auto &[key, value] : object.items()) {
            at = key;
            if (key == "sample_ps") {
                made.sample_ps = number(value);
            } else if (key == "budgets") {
                for (const json &one : value) {
                    const std::string where = "budgets[" + std::to_string(made.budgets.size()) + "]";
                    read_all(made.budgets.emplace_back(), one, where, at, read_budget);
                }
            } else if (key == "regulator") {
                feedback &read = made.regulator.emplace();
                read_all(read, value, "regulator", at, read_regulator);
                for (std::uint32_t &delay : read.event_delays) {
                    delay = regulator_event_delay(delay, std::max<std::uint64_t>(read.interval_ticks, 1));
                }
            } else if (key == "cost") {
                read_all(made.cost, value, "cost", at, read_cost);
            } else {
                throw std::runtime_error("there is no such setting");
            }
        }
    } catch (const std::exception &error) {
        return refusal{at + ": " + error.what()};
    }
    return made;
}

json regulation_results(const regulation::driver &of, picoseconds now)
{
    json budgets = json::array();
    for (const auto &one : of.cores()) {
        budgets.push_back(of_budget(*one, now));
    }
    json found = {{"start_ps", of.start().value}, {"budgets", std::move(budgets)}};
    if (of.shared() != nullptr) {
        const ::regulator &state = of.shared()->state();
        found["regulator"] = {{"samples", state.statistics.samples},
                              {"missed", state.statistics.missed},
                              {"unusable", state.statistics.unusable},
                              {"global_events", state.global >> REGULATOR_FRACTION_BITS},
                              {"carried", regulator_carried(&state)}};
    }
    if (of.series() != nullptr) {
        found["intervals"] = of_series(*of.series());
    }
    return found;
}

} // namespace bulkhead::machine
