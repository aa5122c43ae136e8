// SPDX-License-Identifier: Apache-2.0
// Turns of domains: a domain that sends as declared always has one, and no domain gets more than the analysis
// counts.
#include "core/flow_turns.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace flow_turns_test {
namespace {

flow task(uint32_t sender, uint64_t period_ns)
{
    return {.packet_bytes = 1,
            .period_ns = period_ns,
            .deadline_ns = period_ns,
            .transfers = 0,
            .sender = sender,
            .ends_ns = 0};
}

TEST(flow_turns, f8_a_share_is_a_packet_of_each_task_and_the_sum_of_their_rates)
{
    const std::vector<flow> tasks = {task(1, 1000), task(0, 512), task(1, 3000), task(1, 6000)};
    const flow_share share = flow_turn_share(tasks.data(), 4, 1);
    EXPECT_EQ(share.packets, 3u);
    EXPECT_EQ(share.period_ns, 666u); // 1 / (1/1000 + 1/3000 + 1/6000)
    EXPECT_EQ(flow_turn_share(tasks.data(), 4, 0).period_ns, 512u);
    EXPECT_EQ(flow_turn_share(tasks.data(), 4, 2).packets, 0u);
    EXPECT_EQ(flow_turn_share(tasks.data(), 4, 2).period_ns, FLOW_TURNS_NEVER);
}

TEST(flow_turns, f8_a_period_is_rounded_down_and_by_little)
{
    std::mt19937_64 random(21);
    for (int i = 0; i < 2000; i++) {
        std::vector<flow> tasks(1 + random() % 50);
        std::generate(tasks.begin(), tasks.end(), [&] {
            return task(uint32_t(random() % 3), 1 + random() % (1ull << (1 + random() % 40)));
        });
        flow_share all[FLOW_MAX_DOMAINS];
        flow_turn_shares(tasks.data(), uint32_t(tasks.size()), all);
        for (uint32_t domain = 0; domain < 4; domain++) {
            const flow_share one = flow_turn_share(tasks.data(), uint32_t(tasks.size()), domain);
            long double rate = 0;
            for (const flow &flow : tasks) {
                rate += flow.sender == domain ? 1.0L / static_cast<long double>(flow.period_ns) : 0;
            }
            ASSERT_EQ(one.packets, all[domain].packets);
            ASSERT_EQ(one.period_ns, all[domain].period_ns);
            if (rate > 0) {
                ASSERT_LE(static_cast<long double>(one.period_ns), 1 / rate * (1 + 1e-15L));
                ASSERT_GE(static_cast<long double>(one.period_ns), (1 / rate - 1) * (1 - 1e-4L) - 1);
            }
        }
    }
}

// Steps of the broker at any times; packets of each task no closer than declared, seen by the first step
// after them.
TEST(flow_turns, f8_who_sends_as_declared_never_lacks_a_turn)
{
    std::mt19937_64 random(22);
    uint64_t taken = 0;
    for (int round = 0; round < 3000; round++) {
        std::vector<flow> tasks(1 + random() % 5);
        std::generate(tasks.begin(), tasks.end(), [&] { return task(0, 50 + random() % 500); });
        const flow_share share = flow_turn_share(tasks.data(), uint32_t(tasks.size()), 0);
        flow_turns turns;
        flow_turns_start(&turns, &share, 0);
        std::vector<uint64_t> next(tasks.size());
        std::generate(next.begin(), next.end(), [&] { return random() % 100; });
        const bool lazy = random() % 2 != 0;
        for (uint64_t now = 0; now < 20'000; now += 1 + random() % (random() % 4 == 0 ? 2000 : 50)) {
            const uint32_t allowed = flow_turns_look(&turns, now);
            uint32_t waiting = 0;
            for (size_t i = 0; i < tasks.size(); i++) {
                for (; next[i] <= now; next[i] += tasks[i].period_ns + (lazy ? random() % 200 : 0)) {
                    waiting++;
                }
            }
            ASSERT_LE(waiting, allowed) << round;
            for (; waiting != 0; waiting--) {
                flow_turns_take(&turns);
                taken++;
            }
        }
    }
    EXPECT_GT(taken, 100'000u);
}

// In one step, and in all steps from it on, each of which may be long after the previous one: at the begin of
// a step the domain has at most N_d unused turns, and those earned since the previous step.
TEST(flow_turns, f8_nobody_gets_more_turns_than_the_analysis_counts)
{
    std::mt19937_64 random(23);
    for (int round = 0; round < 3000; round++) {
        const flow_share share = {.packets = uint32_t(1 + random() % 5), .period_ns = 10 + random() % 100};
        flow_turns turns;
        flow_turns_start(&turns, &share, 0);
        std::vector<uint64_t> looks = {0};
        std::vector<uint64_t> took = {flow_turns_look(&turns, 0)};
        for (uint64_t i = 0; i < took[0]; i++) {
            flow_turns_take(&turns);
        }
        for (int look = 0; look < 30; look++) {
            looks.push_back(looks.back() + random() % 500);
            const uint32_t allowed = flow_turns_look(&turns, looks.back());
            took.push_back(random() % 2 != 0 ? allowed : random() % (allowed + 1));
            for (uint64_t i = 0; i < took.back(); i++) {
                flow_turns_take(&turns);
            }
        }
        for (size_t first = 1; first < looks.size(); first++) {
            uint64_t sum = 0;
            for (size_t last = first; last < looks.size(); last++) {
                sum += took[last];
                ASSERT_LE(sum, share.packets + (looks[last] - looks[first - 1]) / share.period_ns);
            }
        }
    }
}

TEST(flow_turns, f8_what_is_earned_asleep_is_cut)
{
    const flow_share share = {.packets = 2, .period_ns = 100};
    flow_turns turns;
    flow_turns_start(&turns, &share, 0);
    EXPECT_EQ(flow_turns_look(&turns, 10'000), 102u);
    EXPECT_EQ(flow_turns_look(&turns, 10'250), 4u) << "without a sleep, only what was earned since";
    (void)flow_turns_look(&turns, 99'900);
    EXPECT_EQ(flow_turns_look(&turns, 100'000), 3u) << "woken, with a look back of 100 ns";
}

TEST(flow_turns, f6_a_flow_more_brings_its_turns_and_a_flow_less_takes_them)
{
    const flow_share two = {.packets = 2, .period_ns = 100};
    const flow_share three = {.packets = 3, .period_ns = 70};
    const flow_share none = {.packets = 0, .period_ns = FLOW_TURNS_NEVER};
    flow_turns turns;
    flow_turns_start(&turns, &two, 0);
    flow_turns_look(&turns, 0);
    flow_turns_take(&turns);
    flow_turns_change(&turns, &three);
    EXPECT_EQ(flow_turns_look(&turns, 0), 2u);
    flow_turns_change(&turns, &two);
    EXPECT_EQ(flow_turns_look(&turns, 0), 2u);
    flow_turns_change(&turns, &none);
    EXPECT_EQ(flow_turns_look(&turns, 1'000'000), 0u);
    flow_turns_change(&turns, &two);
    EXPECT_EQ(flow_turns_look(&turns, 1'000'000), 2u);
}

} // namespace
} // namespace flow_turns_test
