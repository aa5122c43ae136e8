// SPDX-License-Identifier: Apache-2.0
// Transform, test and search of core/ for one set; see the header.
#include "bindings/flows/set.h"

#include <algorithm>
#include <stdexcept>

namespace bulkhead::flows {

namespace {

constexpr std::uint64_t points_at_once = 1U << 16; // any number: no caller has to respond in between
constexpr std::uint64_t slack_points = 1U << 14;   // of one flow: a load near 1 needs more points

struct wording {
    const char *code;
    const char *text;
};

// In the order of enum flow_problem.
constexpr std::array<wording, FLOW_QUEUE_LONG + 1> wordings = {{
    {"none", "no problem"},
    {"too-many", "there is no flow, or there are more than the analysis takes"},
    {"bad-chunk", "the chunk is not 1 B to 4 GiB"},
    {"bad-costs", "a cost is too large, or a smallest one above the largest"},
    {"bad-size", "the packet size is not 1 B to 4 GiB"},
    {"bad-time", "the period or the deadline is not 1 ns to 18 minutes"},
    {"bad-sender", "there is no such sender"},
    {"bad-transfers", "there are fewer transfers than chunks, or more than 1048576"},
    {"deadline-short", "the deadline is not longer than the fixed parts of the path"},
    {"period-short", "the period is not longer than the varying part of a send"},
    {"parse-long", "parsing what domains may send takes nearly all of the broker's time"},
    {"queue-long", "more packets of its sender may be waiting than there are places"},
}};

} // namespace

refused::refused(flow_problem problem, std::uint32_t culprit)
    : problem_(problem), culprit_(culprit),
      text_("flow " + std::to_string(culprit) + ": " + wordings.at(problem).text)
{
}

const char *refused::code() const noexcept
{
    return wordings[problem_]
        .code; // NOLINT(cppcoreguidelines-pro-bounds-constant-array-index): an enumerator
}

const char *verdict_name(flow_verdict verdict)
{
    constexpr std::array<const char *, FLOW_IMPOSSIBLE + 1> names = {"goes-on", "schedulable", "overloaded",
                                                                     "late",    "undecided",   "impossible"};
    return names.at(verdict);
}

void check_rate(std::uint64_t bytes_per_s)
{
    if (bytes_per_s == 0 || bytes_per_s > FLOW_MAX_BYTES_PER_S) {
        throw std::invalid_argument("the bandwidth is not 1 to " + std::to_string(FLOW_MAX_BYTES_PER_S) +
                                    " bytes/s");
    }
}

flow_verdict finish(flow_test &test)
{
    while (test.verdict == FLOW_GOES_ON) {
        flow_test_run(&test, points_at_once);
    }
    return test.verdict;
}

flow_tasks::flow_tasks(const std::vector<::flow> &flows, const flow_costs &costs, std::uint32_t senders,
                       std::uint64_t chunk_bytes)
{
    std::uint32_t culprit = 0;
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(flows.size(), FLOW_MAX + 1));
    const flow_problem problem =
        flow_transform(flows.data(), count, &costs, senders, chunk_bytes, &set_, &culprit);

    if (problem != FLOW_OK) {
        throw refused(problem, culprit);
    }
}

static outcome ended(const flow_test &test)
{
    return {verdict_name(test.verdict), test.bytes_per_s, test.at, test.demand, test.points};
}

outcome flow_tasks::check(std::uint64_t bytes_per_s, std::uint64_t points) const
{
    flow_test test;

    check_rate(bytes_per_s);
    flow_test_start(&test, &set_, bytes_per_s);
    flow_test_run(&test, points);
    return ended(test);
}

outcome flow_tasks::smallest_bandwidth() const
{
    flow_search search;

    flow_search_start(&search, &set_);
    while (search.test.verdict == FLOW_GOES_ON) {
        flow_search_run(&search, points_at_once);
    }
    return ended(search.test);
}

std::pair<std::uint64_t, bool> flow_tasks::slack(std::uint64_t bytes_per_s,
                                                 const std::vector<std::uint32_t> &members) const
{
    std::uint64_t shortest = UINT64_MAX;

    check_rate(bytes_per_s);
    for (const std::uint32_t member : members) {
        if (member >= set_.count) {
            throw std::invalid_argument("there is no task " + std::to_string(member));
        }
        shortest = std::min(shortest, set_.tasks[member].first);
    }
    if (members.empty()) {
        throw std::invalid_argument("no task is named");
    }
    std::uint64_t points = slack_points;
    std::uint64_t low = 0;         // the test holds
    std::uint64_t high = shortest; // the test fails: nothing can be due at once
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        flow_set shifted = set_;
        flow_test test;

        for (const std::uint32_t member : members) {
            shifted.tasks[member].first -= middle;
        }
        flow_test_start(&test, &shifted, bytes_per_s);
        const flow_verdict verdict = flow_test_run(&test, points);
        if (verdict == FLOW_GOES_ON) {
            return {low, false};
        }
        points -= test.points;
        (verdict == FLOW_SCHEDULABLE ? low : high) = middle;
    }
    return {low, true};
}

} // namespace bulkhead::flows
