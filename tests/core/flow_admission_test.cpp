// SPDX-License-Identifier: Apache-2.0
// Flows that come and go, compared with the definition of a schedulable set.
#include "core/flow_admission.h"
#include "flow_brute.h"
#include <gtest/gtest.h>
#include <map>
#include <memory>

namespace flow_admission_test {
namespace {

constexpr flow_costs no_costs = {};
constexpr uint64_t chunk_bytes = 4096;
constexpr uint64_t megabyte_per_s = 1'000'000;

using Given = flow_declared;

std::unique_ptr<flow_admission> empty(uint64_t bytes_per_s, const flow_costs &costs = no_costs)
{
    auto made = std::make_unique<flow_admission>();
    flow_admission_init(made.get(), &costs, 4, chunk_bytes, 0, bytes_per_s);
    return made;
}

// Periods from few values: their hyperperiod is short, as the oracle needs.
Given any_flow(std::mt19937_64 &random)
{
    const uint32_t sender = random() % 4;
    return {.data = {.packet_bytes = 1 + random() % 12'000,
                     .period_ns = 10'000ull << random() % 3,
                     .deadline_ns = 2'000 + random() % 30'000,
                     .transfers = 0,
                     .sender = sender,
                     .ends_ns = 0},
            .receiver = (sender + 1) % 4,
            .other_way_ns = random() % 4 == 0 ? 10'000ull << random() % 3 : 0};
}

flow_verdict finish(flow_admission &admission)
{
    flow_verdict verdict = FLOW_GOES_ON;
    for (int i = 0; verdict == FLOW_GOES_ON && i < 1'000'000; i++) {
        verdict = flow_test_run(&admission.test, 1);
    }
    return verdict;
}

// The set of all admitted flows, and one more.
bool schedulable(const std::map<uint32_t, Given> &all, uint64_t bytes_per_s)
{
    std::vector<flow> flows;
    for (const auto &[name, one] : all) {
        std::array<flow, FLOW_TASKS> tasks{};
        const uint32_t count = flow_with_control(&one.data, one.receiver, one.other_way_ns, tasks.data());
        flows.insert(flows.end(), tasks.begin(), tasks.begin() + count);
    }
    flow_set set;
    uint32_t culprit = 0;
    EXPECT_EQ(flow_transform(flows.data(), static_cast<uint32_t>(flows.size()), &no_costs, 4, chunk_bytes,
                             &set, &culprit),
              FLOW_OK);
    return brute::schedulable(set, bytes_per_s);
}

TEST(flow_admission, f6_admits_what_is_schedulable_with_all_that_are_in)
{
    std::mt19937_64 random(11);
    int admitted = 0;
    int refused = 0;
    for (int round = 0; round < 150; round++) {
        const uint64_t bytes_per_s = (1 + random() % 3) * 1000 * megabyte_per_s;
        std::map<uint32_t, Given> in;
        for (uint32_t name = 0; name < 12; name++) {
            if (!in.empty() && random() % 4 == 0) {
                in.erase(std::next(in.begin(), random() % in.size()));
            }
            const Given given = any_flow(random);
            const auto admission = empty(bytes_per_s);
            for (const auto &[other, one] : in) {
                flow_admission_take(admission.get(), other, &one);
            }
            auto with = in;
            with[name] = given;
            uint32_t culprit = 0;
            ASSERT_EQ(flow_admission_begin(admission.get(), name, &given, &culprit), FLOW_OK);
            ASSERT_EQ(admission->count, with.size());
            if (finish(*admission) == FLOW_SCHEDULABLE) {
                ASSERT_TRUE(schedulable(with, bytes_per_s));
                in = with;
                admitted++;
            } else {
                ASSERT_FALSE(schedulable(with, bytes_per_s));
                refused++;
            }
        }
    }
    EXPECT_GT(admitted, 300);
    EXPECT_GT(refused, 100);
}

TEST(flow_admission, f6_a_problem_names_the_flow_that_the_path_alone_makes_late)
{
    flow_costs costs = {};
    costs.transport_min = 100;
    costs.transport_max = 1000;
    costs.parse_max = 100;
    costs.notify_max = 500;
    auto admission = empty(1000 * megabyte_per_s, costs);
    const Given good = {.data = {.packet_bytes = 64,
                                 .period_ns = 1'000'000,
                                 .deadline_ns = 1'810,
                                 .transfers = 0,
                                 .sender = 0,
                                 .ends_ns = 0},
                        .receiver = 1,
                        .other_way_ns = 0};
    Given bad = good;
    uint32_t culprit = 0;

    flow_admission_take(admission.get(), 7, &good);
    bad.data.deadline_ns = 1500;
    bad.data.sender = 2;
    EXPECT_EQ(flow_admission_begin(admission.get(), 9, &bad, &culprit), FLOW_DEADLINE_SHORT);
    EXPECT_EQ(culprit, 9u);
    // Valid by itself, but its sender's other flow would have to wait for it.
    admission = empty(1000 * megabyte_per_s, costs);
    flow_admission_take(admission.get(), 7, &good);
    bad.data.deadline_ns = 1'000'000;
    bad.data.sender = good.data.sender;
    EXPECT_EQ(flow_admission_begin(admission.get(), 9, &bad, &culprit), FLOW_DEADLINE_SHORT);
    EXPECT_EQ(culprit, 7u);
}

// A packet as large as a chunk needs two receive buffers of the smallest kind; a declared smaller number is
// accepted.
TEST(flow_admission, f9_the_single_threaded_broker_expects_the_most_transfers)
{
    flow_costs costs = {};
    costs.model = FLOW_MODEL_SINGLE_THREAD;
    const auto admission = empty(1000 * megabyte_per_s, costs);
    Given given = {.data = {.packet_bytes = chunk_bytes,
                            .period_ns = 1'000'000,
                            .deadline_ns = 1'000'000,
                            .transfers = 0,
                            .sender = 0,
                            .ends_ns = 0},
                   .receiver = 1,
                   .other_way_ns = 0};
    uint32_t culprit = 0;
    ASSERT_EQ(flow_admission_begin(admission.get(), 0, &given, &culprit), FLOW_OK);
    EXPECT_EQ(admission->tasks[0].transfers, 2u);
    EXPECT_EQ(admission->tasks[1].transfers, 1u);
    ASSERT_EQ(finish(*admission), FLOW_SCHEDULABLE);
    given.data.transfers = 1;
    ASSERT_EQ(flow_admission_begin(admission.get(), 1, &given, &culprit), FLOW_OK);
    EXPECT_EQ(admission->tasks[FLOW_TASKS].transfers, 1u);
    given.data = {};
    EXPECT_EQ(flow_admission_begin(admission.get(), 1, &given, &culprit), FLOW_BAD_SIZE);
}

TEST(flow_admission, f6_takes_as_many_flows_as_there_is_room_for)
{
    const auto admission = empty(1000 * megabyte_per_s);
    const Given small = {.data = {.packet_bytes = 1,
                                  .period_ns = FLOW_MAX_NS,
                                  .deadline_ns = FLOW_MAX_NS,
                                  .transfers = 0,
                                  .sender = 0,
                                  .ends_ns = 0},
                         .receiver = 1,
                         .other_way_ns = 0};
    uint32_t culprit = 0;

    for (uint32_t name = 0; name < FLOW_ADMISSION_FLOWS; name++) {
        ASSERT_EQ(flow_admission_begin(admission.get(), name, &small, &culprit), FLOW_OK);
        ASSERT_EQ(finish(*admission), FLOW_SCHEDULABLE);
    }
    EXPECT_EQ(flow_admission_begin(admission.get(), 99, &small, &culprit), FLOW_TOO_MANY);
}

} // namespace
} // namespace flow_admission_test
