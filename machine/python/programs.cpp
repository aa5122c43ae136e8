// SPDX-License-Identifier: Apache-2.0
// Builds the reports of programs; see the header.
#include "machine/python/programs.h"

namespace bulkhead::machine {

namespace {

using nlohmann::json;

// As workloads mark their iterations (workloads/hosts/machine.c).
constexpr int mark_begin = 1;
constexpr int mark_end = 2;

json of_compiled(const bare_program::report &report)
{
    json marks = json::array();
    for (const bare_program::mark &mark : report.marks) {
        marks.push_back({mark.id, mark.when.value});
    }
    return {{"ended", report.ended}, {"status", report.status}, {"output", report.output}, {"marks", marks}};
}

json of_recorded(const trace::recorded::report &report)
{
    json marks = json::array();
    for (const trace::recorded::replay_time &one : report.replays) {
        marks.push_back({mark_begin, one.begin.value});
        if (one.end) {
            marks.push_back({mark_end, one.end->value});
        }
    }
    return {{"ended", report.ended}, {"status", 0}, {"output", ""}, {"marks", marks}};
}

} // namespace

bool program_on_core::done() const
{
    if (compiled_) {
        return endless_ || compiled_->outcome().ended || compiled_->outcome().trouble;
    }
    return endless_ || recorded_->outcome().ended;
}

json program_on_core::report() const
{
    json found = compiled_ ? of_compiled(compiled_->outcome()) : of_recorded(recorded_->outcome());
    const auto &trouble = compiled_ ? compiled_->outcome().trouble : recorded_->outcome().trouble;
    found["core"] = core_;
    found["trouble"] = trouble ? json(*trouble) : json(nullptr);
    return found;
}

} // namespace bulkhead::machine
