// SPDX-License-Identifier: Apache-2.0
// The loop over sets, with the time that each takes; see the header.
#include "bindings/flows/batch.h"

#include <ctime>
#include <stdexcept>

#include "bindings/flows/set.h"

namespace bulkhead::flows {

namespace {

void check_shape(const batch &sets)
{
    const std::size_t all = sets.packet_bytes.size();

    if (sets.flows_per_set == 0 || sets.flows_per_set > FLOW_MAX || all % sets.flows_per_set != 0) {
        throw std::invalid_argument("not 1 to " + std::to_string(FLOW_MAX) + " flows in every set");
    }
    if (sets.period_ns.size() != all || sets.deadline_ns.size() != all || sets.sender.size() != all) {
        throw std::invalid_argument("sizes, periods, deadlines and senders are not of as many flows");
    }
}

// Processor time of this thread: other threads on the same cores do not count.
std::uint64_t thread_ns()
{
    timespec now{};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Problems of a single set. Any other problem concerns every set, and is the caller's mistake.
bool is_of_the_set(flow_problem problem)
{
    return problem == FLOW_DEADLINE_SHORT || problem == FLOW_PERIOD_SHORT || problem == FLOW_PARSE_LONG ||
           problem == FLOW_QUEUE_LONG;
}

} // namespace

batch_results test_batch(const batch &sets, const flow_costs &costs, std::uint32_t senders,
                         std::uint64_t chunk_bytes, std::uint64_t bytes_per_s)
{
    check_shape(sets);
    check_rate(bytes_per_s);
    const std::size_t count = sets.packet_bytes.size() / sets.flows_per_set;
    batch_results found{.schedulable = std::vector<std::uint8_t>(count),
                        .refused = std::vector<std::uint8_t>(count),
                        .undecided = std::vector<std::uint8_t>(count),
                        .points = std::vector<std::uint64_t>(count),
                        .analysis_ns = std::vector<std::uint64_t>(count)};
    std::vector<::flow> flows(sets.flows_per_set);
    flow_set set;
    for (std::size_t one = 0; one < count; one++) {
        for (std::size_t i = 0; i < flows.size(); i++) {
            const std::size_t at = one * sets.flows_per_set + i;
            if (sets.sender[at] >= FLOW_MAX_DOMAINS) {
                throw refused(FLOW_BAD_SENDER, static_cast<std::uint32_t>(i));
            }
            flows[i] = {.packet_bytes = sets.packet_bytes[at],
                        .period_ns = sets.period_ns[at],
                        .deadline_ns = sets.deadline_ns[at],
                        .transfers = 0,
                        .sender = static_cast<std::uint32_t>(sets.sender[at]),
                        .ends_ns = 0};
        }
        std::uint32_t culprit = 0;
        const std::uint64_t begin = thread_ns();
        const flow_problem problem = flow_transform(flows.data(), static_cast<std::uint32_t>(flows.size()),
                                                    &costs, senders, chunk_bytes, &set, &culprit);
        if (problem == FLOW_OK) {
            flow_test test;
            flow_test_start(&test, &set, bytes_per_s);
            const flow_verdict verdict = finish(test);
            found.schedulable[one] = verdict == FLOW_SCHEDULABLE ? 1 : 0;
            found.undecided[one] = verdict == FLOW_UNDECIDED ? 1 : 0;
            found.points[one] = test.points;
        } else if (is_of_the_set(problem)) {
            found.refused[one] = 1;
        } else {
            throw refused(problem, culprit);
        }
        found.analysis_ns[one] = thread_ns() - begin;
    }
    return found;
}

} // namespace bulkhead::flows
