// SPDX-License-Identifier: Apache-2.0
// Transformation of declared flows to tasks, compared with the formulas of F4 and F5 with the published
// costs.
#include "core/flow.h"
#include <gtest/gtest.h>

namespace flow_transform_test {
namespace {

constexpr flow_costs zcu102 = {.hypervisor_call_min = 939,
                               .hypervisor_call_max = 949,
                               .transport_min = 111,
                               .transport_max = 757,
                               .parse_max = 1161,
                               .queue_lock_max = 142,
                               .queue_insert_max = 101,
                               .find_place_max = 30,
                               .queue_remove_max = 40,
                               .find_earliest_max = 71,
                               .program_dma_max = 949,
                               .finalize_max = 2646,
                               .dma_interrupt_max = 828,
                               .notify_max = 1460,
                               .wake_max = 0,
                               .copy_max = 0,
                               .copied_bytes = 0,
                               .end_interrupts_max = 0,
                               .broker_interrupts_burst = 0,
                               .broker_interrupts_share = 0,
                               .reserved = 0,
                               .model = FLOW_MODEL_PUBLISHED};
constexpr flow one = {.packet_bytes = 12288,
                      .period_ns = 5'000'000,
                      .deadline_ns = 9'000'000,
                      .transfers = 0,
                      .sender = 0,
                      .ends_ns = 0};

flow_problem transform(const flow &flow, flow_set *set, const flow_costs &costs = zcu102,
                       uint64_t chunk = 4096)
{
    uint32_t culprit = 0;
    return flow_transform(&flow, 1, &costs, 1, chunk, set, &culprit);
}

TEST(flow_transform, is_by_the_formulas)
{
    flow_set set;
    ASSERT_EQ(transform(one, &set), FLOW_OK);
    const flow_task &task = set.tasks[0];
    const double dma = 71 + 949 + 949 + 828 + 2646;
    const double insert = 101 + 2 * 30; // two packets can wait
    const double source = 142 + insert;
    const double packet = source + 142 + 40;
    const double jitter = 1161 + source + 142 + 40;
    EXPECT_EQ(double(set.dma_fixed), 2 * dma);
    EXPECT_EQ(double(task.period), 2 * (5e6 + (939 / 2.0 + 111) - (949 / 2.0 + 757)));
    EXPECT_EQ(double(task.first), 2 * (9e6 - (949 / 2.0 + 757) - (1460 - 949 / 2.0) - jitter));
    EXPECT_EQ(double(task.fixed), 2 * (3 * dma + packet));
    EXPECT_EQ(double(task.block_fixed), 2 * (dma + packet));
    EXPECT_EQ(task.bytes, 12288u);
    EXPECT_EQ(task.block_bytes, 4096u);
    EXPECT_TRUE(task.several);
}

// A busy interval begins when the broker wakes: all packets sent in it are late by that time.
TEST(flow_transform, a_broker_that_sleeps_is_woken_first)
{
    flow_set set;
    flow_set slow;
    flow_costs costs = zcu102;
    costs.wake_max = 7000;
    ASSERT_EQ(transform(one, &set), FLOW_OK);
    ASSERT_EQ(transform(one, &slow, costs), FLOW_OK);
    EXPECT_EQ(set.tasks[0].first - slow.tasks[0].first, 2 * 7000u);
    EXPECT_EQ(set.tasks[0].period, slow.tasks[0].period);
    EXPECT_EQ(set.tasks[0].fixed, slow.tasks[0].fixed);
    costs.wake_max = FLOW_MAX_COST_NS + 1;
    EXPECT_EQ(transform(one, &slow, costs), FLOW_BAD_COSTS);
}

TEST(flow_transform, the_last_transfer_has_what_is_left)
{
    flow_set set;
    flow flow = one;
    flow.packet_bytes = 4097;
    ASSERT_EQ(transform(flow, &set), FLOW_OK);
    EXPECT_EQ(set.tasks[0].block_bytes, 1u);
    flow.transfers = 5; // buffers in pieces, whose ends are not known
    ASSERT_EQ(transform(flow, &set), FLOW_OK);
    EXPECT_EQ(set.tasks[0].block_bytes, 4096u);
    EXPECT_EQ(set.tasks[0].fixed - set.tasks[0].block_fixed, 4 * set.dma_fixed);
    flow.packet_bytes = 4096;
    flow.transfers = 0;
    ASSERT_EQ(transform(flow, &set), FLOW_OK);
    EXPECT_FALSE(set.tasks[0].several);
}

TEST(flow_transform, flows_of_a_domain_wait_in_one_queue)
{
    const flow flows[] = {one,
                          one,
                          {.packet_bytes = 1,
                           .period_ns = 1'000'000,
                           .deadline_ns = 1'000'000,
                           .transfers = 0,
                           .sender = 1,
                           .ends_ns = 0}};
    flow_set set;
    uint32_t culprit = 0;
    ASSERT_EQ(flow_transform(flows, 3, &zcu102, 2, 4096, &set, &culprit), FLOW_OK);
    const double source = 142 + 101 + 4 * 30;
    EXPECT_EQ(double(set.tasks[0].first), 2 * (9e6 - 757 - 1460 - 2 * (1161 + source + 142 + 40)));
    EXPECT_EQ(double(set.tasks[2].block_fixed - set.dma_fixed), 2 * (142 + 101 + 30 + 142 + 40.0));
}

TEST(flow_transform, refuses_what_cannot_be)
{
    struct {
        flow_problem problem;
        flow changed;
    } const bad[] = {
        {FLOW_BAD_SIZE, {0, 1000, 1000, 0, 0, 0}},
        {FLOW_BAD_SIZE, {FLOW_MAX_BYTES + 1, 1000, 1000, 0, 0, 0}},
        {FLOW_BAD_TIME, {1, 0, 1000, 0, 0, 0}},
        {FLOW_BAD_TIME, {1, 1000, 0, 0, 0, 0}},
        {FLOW_BAD_TIME, {1, FLOW_MAX_NS + 1, 1000, 0, 0, 0}},
        {FLOW_BAD_SENDER, {1, 1000, 1000, 0, FLOW_MAX_DOMAINS, 0}},
        {FLOW_BAD_TRANSFERS, {8193, 1000, 1000, 2, 0, 0}},
        {FLOW_DEADLINE_SHORT, {1, 1'000'000, 3000, 0, 0, 0}},
        {FLOW_DEADLINE_SHORT, {1, 1'000'000, 900'000, 0, 0, 900'000}},
        {FLOW_PERIOD_SHORT, {1, 600, 1'000'000, 0, 0, 0}},
    };
    flow_set set;
    for (const auto &[problem, changed] : bad) {
        EXPECT_EQ(transform(changed, &set), problem);
    }
    flow_costs costs = zcu102;
    costs.transport_min = costs.transport_max + 1;
    EXPECT_EQ(transform(one, &set, costs), FLOW_BAD_COSTS);
    costs = zcu102;
    costs.finalize_max = FLOW_MAX_COST_NS + 1;
    EXPECT_EQ(transform(one, &set, costs), FLOW_BAD_COSTS);
    EXPECT_EQ(transform(one, &set, zcu102, 0), FLOW_BAD_CHUNK);
    uint32_t culprit = 0;
    EXPECT_EQ(flow_transform(&one, 0, &zcu102, 1, 4096, &set, &culprit), FLOW_TOO_MANY);
}

// With the largest costs and sizes, everything stays within the range of the sums.
TEST(flow_transform, largest_values_fit)
{
    flow_costs costs;
    std::fill_n(reinterpret_cast<uint32_t *>(&costs), sizeof costs / sizeof(uint32_t), FLOW_MAX_COST_NS);
    costs.copied_bytes = costs.reserved = 0;
    costs.broker_interrupts_share = FLOW_SHARE_ONE - 1;
    costs.model = FLOW_MODEL_PUBLISHED;
    flow flows[FLOW_MAX];
    std::fill_n(flows, FLOW_MAX, flow{FLOW_MAX_BYTES, FLOW_MAX_NS, FLOW_MAX_NS, 0, 0, 0});
    flow_set set;
    uint32_t culprit = 0;
    ASSERT_EQ(flow_transform(flows, FLOW_MAX, &costs, FLOW_MAX_DOMAINS, 4096, &set, &culprit), FLOW_OK);
    EXPECT_LT(set.tasks[0].fixed, 1ull << 52);
    EXPECT_LE(set.tasks[0].first, 2 * FLOW_MAX_NS);
}

} // namespace
} // namespace flow_transform_test
