// SPDX-License-Identifier: Apache-2.0
// The comparison of U'(b) with 1 digit by digit, against sums over a common denominator; 128-bit division
// against the compiler's own.
#include "core/flow_search.h"
#include "core/wide.h"
#include "flow_brute.h"
#include <gtest/gtest.h>

namespace flow_load_test {
namespace {

TEST(wide_division, is_the_compilers)
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 200000; i++) {
        const uint64_t divisor = (random() >> random() % 64) | 1;
        const wide_t value = wide_t(random() >> random() % 64) << 64 | random() >> random() % 64;
        uint64_t rest = 0;
        ASSERT_TRUE(wide_divide(value, divisor, &rest) == value / divisor) << divisor;
        ASSERT_EQ(rest, uint64_t(value % divisor));
    }
    uint64_t rest = 0;
    EXPECT_TRUE(wide_divide(~wide_t{0}, UINT64_MAX, &rest) == ~wide_t{0} / UINT64_MAX);
    EXPECT_EQ(rest, 0u);
}

TEST(flow_load_steps, is_that_of_a_common_denominator)
{
    std::mt19937_64 random(2);
    int found[3] = {};
    for (int i = 0; i < 100000; i++) {
        const flow_set set = brute::any_set(random);
        const uint64_t b = 100'000'000 * (1 + random() % 60);
        struct flow_load load;
        const flow_load_verdict verdict = flow_load_all(&load, &set, b);
        ASSERT_EQ(int(verdict) - 1, brute::load(set, b)) << i;
        found[verdict]++;
        if (verdict != FLOW_LOAD_OVER) {
            const bool leads = set.lead_fixed != 0 || set.lead_bytes != 0;
            uint64_t first = set.tasks[0].first;
            for (uint32_t k = 1; k < set.count; k++) {
                first = std::min(first, set.tasks[k].first);
            }
            ASSERT_LE(load.horizon, brute::hyperperiod(set) + (leads ? first : 0));
        }
    }
    EXPECT_GT(std::min({found[0], found[1], found[2]}), 20);
}

// A load of exactly 1 in fractions without a finite expansion, and loads just beside 1.
TEST(flow_load_steps, tells_one_from_a_hair_more)
{
    flow_set set = {};
    set.count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        set.tasks[i] = {.period = 3'000'000'000,
                        .first = 1'000'000,
                        .fixed = 500'000'000,
                        .bytes = 1'000'000,
                        .block_fixed = 0,
                        .block_bytes = 1,
                        .several = false};
    }
    struct flow_load load;
    EXPECT_EQ(flow_load_all(&load, &set, 4'000'000), FLOW_LOAD_FULL); // 3 * (1/6 + 2e9 * 1e6 / 4e6 / 3e9)
    EXPECT_EQ(load.horizon, 3'000'000'000u);
    set.tasks[0].period--;
    EXPECT_EQ(flow_load_all(&load, &set, 4'000'000), FLOW_LOAD_OVER);
    set.tasks[0].period += 2;
    EXPECT_EQ(flow_load_all(&load, &set, 4'000'000), FLOW_LOAD_BELOW);
}

TEST(flow_load_steps, smallest_bandwidth_is_where_it_crosses_one)
{
    std::mt19937_64 random(3);
    int found = 0;
    for (int i = 0; i < 2000; i++) {
        const flow_set set = brute::any_set(random);
        const uint64_t b = flow_search_load(&set);
        if (b == 0) {
            ASSERT_GT(brute::load(set, FLOW_MAX_BYTES_PER_S), 0);
            continue;
        }
        found++;
        ASSERT_LE(brute::load(set, b), 0);
        ASSERT_GT(brute::load(set, b - 1), 0);
    }
    EXPECT_GT(found, 1000);
}

} // namespace
} // namespace flow_load_test
