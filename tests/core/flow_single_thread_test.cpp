// SPDX-License-Identifier: Apache-2.0
// Tasks of the single-threaded broker, compared with the formulas evaluated by hand.
#include "core/flow.h"
#include "core/flow_test.h"
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace flow_single_thread_test {
namespace {

constexpr flow_costs parts = {.hypervisor_call_min = 900,
                              .hypervisor_call_max = 1000,
                              .transport_min = 100,
                              .transport_max = 400,
                              .parse_max = 1000,
                              .queue_lock_max = FLOW_MAX_COST_NS, // locks: there are none
                              .queue_insert_max = FLOW_MAX_COST_NS,
                              .find_place_max = FLOW_MAX_COST_NS,
                              .queue_remove_max = FLOW_MAX_COST_NS,
                              .find_earliest_max = 50,
                              .program_dma_max = 300,
                              .finalize_max = 1500,
                              .dma_interrupt_max = 200,
                              .notify_max = 2000,
                              .wake_max = 3000,
                              .copy_max = 600,
                              .copied_bytes = 0,
                              .end_interrupts_max = 0,
                              .broker_interrupts_burst = 0,
                              .broker_interrupts_share = 0,
                              .reserved = 0,
                              .model = FLOW_MODEL_SINGLE_THREAD};

flow task(uint32_t sender, uint64_t bytes, uint64_t period_ns, uint64_t deadline_ns)
{
    return {.packet_bytes = bytes,
            .period_ns = period_ns,
            .deadline_ns = deadline_ns,
            .transfers = 0,
            .sender = sender,
            .ends_ns = 0};
}

flow_problem transform(const std::vector<flow> &flows, flow_set &set, uint32_t &culprit,
                       const flow_costs &costs = parts)
{
    return flow_transform(flows.data(), uint32_t(flows.size()), &costs, 3, 4096, &set, &culprit);
}

TEST(flow_single_thread, f8_is_by_the_formulas)
{
    // T_0 = 62500, T_1 = 50000: rho = 2^-16 (ceil(1048.576) + ceil(1310.72)) of the broker's time
    const std::vector<flow> flows = {task(0, 10'000, 125'000, 300'000), task(0, 44, 125'000, 300'000),
                                     task(1, 5000, 50'000, 200'000)};
    flow_set set;
    uint32_t culprit = 0;
    ASSERT_EQ(transform(flows, set, culprit), FLOW_OK);
    const double rho = (1049 + 1311) / 65536.0;
    const double dma = 3 * 50 + 300 + 1000 + 1500 + 200;
    EXPECT_EQ(double(set.dma_fixed), std::ceil(2 * dma / (1 - rho)));
    EXPECT_EQ(double(set.chunk_bytes), std::ceil(4096 / (1 - rho)));
    EXPECT_EQ(double(set.tasks[0].period), 2 * (125'000 + (450 + 100) - (500 + 400.0)));
    EXPECT_EQ(double(set.tasks[0].first), 2 * (300'000 - (500 + 400) - (2000 - 500) - 3000.0));
    EXPECT_EQ(set.tasks[0].first, 2 * flow_queued_ns(300'000, 0, &parts)) << "what the broker takes for D'";
    EXPECT_EQ(flow_moved_ns(300'000, 0, &parts), 300'000 - 400 - parts.finalize_max - parts.notify_max)
        << "all of the deadline but what comes before the release and after the transfer";
    EXPECT_EQ(flow_moved_ns(100, 0, &parts), 0u);
    EXPECT_EQ(double(set.tasks[0].fixed), std::ceil(2 * 3 * dma / (1 - rho)));
    EXPECT_EQ(double(set.tasks[0].bytes), std::ceil(10'000 / (1 - rho)));
    EXPECT_EQ(double(set.tasks[0].block_fixed), double(set.dma_fixed));
    EXPECT_EQ(double(set.tasks[2].block_bytes), std::ceil(904 / (1 - rho)));
    EXPECT_TRUE(set.tasks[0].several);
    const double again = rho / (1 - rho);              // of the longest transfer, a chunk
    const double back = 500 + 1 + 400 + 3000 + 3 * 50; // of a broker that slept: longer than O_dma
    EXPECT_EQ(double(flow_look_back_ns(&parts)), back - 3 * 50);
    EXPECT_EQ(double(set.lead_fixed), std::ceil(2 * (3 * 1000 + 3 * 50 + again * back) / (1 - rho)));
    EXPECT_EQ(double(set.lead_bytes), std::ceil(again * 4096 / (1 - rho)));
}

TEST(flow_single_thread, f7_what_the_core_copies_costs_what_a_copy_does)
{
    // T_0 = T_1 = 50000: rho = 2^-16 * 2 * ceil(1310.72) of the broker's time
    const std::vector<flow> flows = {task(0, 512, 50'000, 200'000), task(1, 513, 50'000, 200'000)};
    flow_costs costs = parts;
    flow_set set;
    uint32_t culprit = 0;
    costs.copied_bytes = 512;
    ASSERT_EQ(transform(flows, set, culprit, costs), FLOW_OK);
    const double rho = 2 * 1311 / 65536.0;
    const double copied = 3 * 50 + 300 + 600 + 1500;
    const double by_engine = 3 * 50 + 300 + 1000 + 200 + 1500;
    EXPECT_EQ(double(set.tasks[0].fixed), std::ceil(2 * copied / (1 - rho)));
    EXPECT_EQ(double(set.tasks[0].block_fixed), std::ceil(2 * copied / (1 - rho)));
    EXPECT_EQ(double(set.tasks[1].fixed), std::ceil(2 * by_engine / (1 - rho)));
    EXPECT_EQ(set.tasks[1].block_fixed, set.dma_fixed);
    costs.copied_bytes = 4097;
    EXPECT_EQ(transform(flows, set, culprit, costs), FLOW_BAD_CHUNK) << "a chunk at most";
    costs.copied_bytes = 512;
    costs.copy_max = FLOW_MAX_COST_NS + 1;
    EXPECT_EQ(transform(flows, set, culprit, costs), FLOW_BAD_COSTS);
}

TEST(flow_single_thread, f7_a_copy_that_is_dearer_than_the_engine_leads_with_what_it_takes)
{
    flow_costs costs = parts;
    flow_set set;
    uint32_t culprit = 0;
    costs.copied_bytes = 512;
    costs.copy_max = 50'000;
    ASSERT_EQ(transform({task(0, 512, 500'000, 500'000)}, set, culprit, costs), FLOW_OK);
    const double rho = 132 / 65536.0; // ceil(131.072)
    const double copied = 3 * 50 + 300 + 50'000 + 1500;
    EXPECT_EQ(double(set.lead_fixed), std::ceil(2 * (1000 + 3 * 50 + rho / (1 - rho) * copied) / (1 - rho)));
}

TEST(flow_single_thread, f9_el2_s_own_interrupts_take_their_time_from_the_broker_and_from_deadlines)
{
    flow_costs costs = parts;
    flow_set set;
    uint32_t culprit = 0;
    costs.end_interrupts_max = 9000;
    costs.broker_interrupts_burst = 20'000;
    costs.broker_interrupts_share = 6554; // a tenth
    flow sent = task(0, 512, 500'000, 500'000);
    sent.ends_ns = 16'000;
    ASSERT_EQ(transform({sent}, set, culprit, costs), FLOW_OK);
    const double rho = 132 / 65536.0; // ceil(131.072)
    const double left = 1 - rho - 6554 / 65536.0;
    const double before = 500 + 400 + (2000 - 500) + 3000.0 + 334 + 16'000; // ceil(3000 / 9)
    EXPECT_EQ(double(set.tasks[0].first), 2 * (500'000 - before));
    EXPECT_EQ(set.tasks[0].first, 2 * flow_queued_ns(500'000, 16'000, &costs));
    EXPECT_EQ(flow_moved_ns(500'000, 16'000, &costs), 500'000 - 400 - 1500 - 2000 - 16'000u);
    EXPECT_EQ(double(set.tasks[0].bytes), std::ceil(512 / left));
    const double slept = 500 + 1 + 400 + 9000;
    const double back = slept + 3000 + 3 * 50 + 3 * 20'000;
    EXPECT_EQ(double(set.lead_fixed), std::ceil(2 * (1000 + 3 * 50 + 20'000 + rho / left * back) / left));
    EXPECT_EQ(double(flow_look_back_ns(&costs)), slept + std::ceil(23'000 / (1 - 6554 / 65536.0)));
    costs.model = FLOW_MODEL_PUBLISHED;
    EXPECT_EQ(flow_queued_ns(500'000, 0, &costs), 500'000 - 400 - 2000 - 3000u) << "it has no such costs";
    EXPECT_EQ(flow_look_back_ns(&costs), 500 + 1 + 400 + 3000u);
    costs.broker_interrupts_share = FLOW_SHARE_ONE;
    EXPECT_FALSE(flow_costs_fit(&costs));
}

TEST(flow_single_thread, f9_el2_s_interrupts_alone_may_be_too_much)
{
    flow_costs costs = parts;
    flow_set set;
    uint32_t culprit = 0;
    costs.broker_interrupts_share = FLOW_SHARE_ONE - FLOW_SHARE_ONE / 256;
    EXPECT_EQ(transform({task(0, 512, 5'000'000, 5'000'000)}, set, culprit, costs), FLOW_PARSE_LONG);
}

TEST(flow_single_thread, f4_the_published_model_leads_with_nothing)
{
    flow_costs costs = parts;
    costs.model = FLOW_MODEL_PUBLISHED;
    costs.queue_lock_max = costs.queue_insert_max = costs.find_place_max = costs.queue_remove_max = 10;
    flow_set set;
    uint32_t culprit = 0;
    ASSERT_EQ(transform({task(0, 100, 100'000, 100'000)}, set, culprit, costs), FLOW_OK);
    EXPECT_EQ(set.lead_fixed, 0u);
    EXPECT_EQ(set.lead_bytes, 0u);
    costs.model = FLOW_MODEL_SINGLE_THREAD + 1;
    EXPECT_EQ(transform({task(0, 100, 100'000, 100'000)}, set, culprit, costs), FLOW_BAD_COSTS);
}

TEST(flow_single_thread, f9_a_domain_has_places_for_so_many_packets)
{
    // ceil(D / P) + 1 each
    flow_set set;
    uint32_t culprit = 0;
    std::vector<flow> flows = {task(0, 1, 10'000'000, 10'000'000), task(0, 1, 1'000'000, 253'000'000),
                               task(1, 1, 10'000'000, 10'000'000)};
    EXPECT_EQ(transform(flows, set, culprit), FLOW_OK);
    flows[1].deadline_ns++;
    EXPECT_EQ(transform(flows, set, culprit), FLOW_QUEUE_LONG);
    EXPECT_EQ(culprit, 1u);
    flows[1].sender = 1;
    EXPECT_EQ(transform(flows, set, culprit), FLOW_QUEUE_LONG);
    flows[2].sender = 0;
    EXPECT_EQ(transform(flows, set, culprit), FLOW_OK);
}

TEST(flow_single_thread, f8_parsing_alone_may_be_too_much)
{
    flow_set set;
    uint32_t culprit = 0;
    const std::vector<flow> flows = {task(0, 1, 5000, 100'000), task(1, 1, 2000, 100'000),
                                     task(1, 1, 1500, 100'000)};
    EXPECT_EQ(transform(flows, set, culprit), FLOW_PARSE_LONG);
    EXPECT_EQ(culprit, 2u);
    flow_costs quick = parts;
    quick.parse_max = 1;
    EXPECT_EQ(transform(flows, set, culprit, quick), FLOW_OK);
}

// With the largest values, everything stays within the range of the sums.
TEST(flow_single_thread, f4_largest_values_fit)
{
    flow_costs costs = parts;
    costs.parse_max = costs.find_earliest_max = costs.program_dma_max = costs.finalize_max =
        costs.dma_interrupt_max = costs.notify_max = costs.wake_max = costs.end_interrupts_max =
            costs.broker_interrupts_burst = FLOW_MAX_COST_NS;
    const uint64_t period = FLOW_MAX_NS / 255; // of 192, for 3/4 of the time
    const std::vector<flow> flows(FLOW_MAX, task(0, FLOW_MAX_BYTES, period, FLOW_MAX_NS / 256));
    flow_set set;
    uint32_t culprit = 0;
    ASSERT_EQ(transform(std::vector<flow>(FLOW_MAX / 2, task(0, FLOW_MAX_BYTES, period, FLOW_MAX_NS / 256)),
                        set, culprit, costs),
              FLOW_OK);
    EXPECT_LT(set.tasks[0].fixed, 1ull << 60);
    EXPECT_LT(set.tasks[0].bytes, 1ull << 40);
    EXPECT_LT(set.lead_fixed, 1ull << 60);
    EXPECT_LT(set.lead_bytes, 1ull << 60);
    flow_test test;
    flow_test_start(&test, &set, FLOW_MAX_BYTES_PER_S);
    EXPECT_EQ(flow_test_run(&test, UINT64_MAX), FLOW_OVERLOADED);
    EXPECT_EQ(transform(flows, set, culprit, costs), FLOW_QUEUE_LONG);
}

} // namespace
} // namespace flow_single_thread_test
