// SPDX-License-Identifier: Apache-2.0
// The schedulability test and the smallest bandwidth beside the definition, point by point.
#include "core/flow_load.h"
#include "core/flow_test.h"
#include "flow_brute.h"
#include <gtest/gtest.h>

namespace {

flow_verdict run(flow_test &test)
{
    while (test.verdict == FLOW_GOES_ON) {
        flow_test_run(&test, 3); // in pieces, as at EL2
    }
    return test.verdict;
}

TEST(flow_schedule, verdict_is_that_of_every_point)
{
    std::mt19937_64 random(4);
    int found[FLOW_IMPOSSIBLE + 1] = {};
    for (int i = 0; i < 30000; i++) {
        const flow_set set = brute::any_set(random);
        const uint64_t b = 1'000'000 * (100 + random() % 8000);
        flow_test test;
        flow_test_start(&test, &set, b);
        const flow_verdict verdict = run(test);
        ASSERT_EQ(verdict == FLOW_SCHEDULABLE, brute::schedulable(set, b)) << i << " " << verdict;
        ASSERT_NE(verdict, FLOW_UNDECIDED);
        found[verdict]++;
        if (verdict == FLOW_LATE) {
            ASSERT_FALSE(brute::in_order(set, b, test.at));
            ASSERT_GT(test.demand, test.at);
        }
    }
    EXPECT_GT(found[FLOW_SCHEDULABLE], 1000);
    EXPECT_GT(found[FLOW_LATE], 1000);
    EXPECT_GT(found[FLOW_OVERLOADED], 1000);
}

TEST(flow_schedule, smallest_bandwidth_passes_and_one_byte_less_does_not)
{
    std::mt19937_64 random(5);
    int found = 0;
    int by_load = 0;
    for (int i = 0; i < 20000; i++) {
        const flow_set set = brute::any_set(random);
        flow_test test;
        flow_test_start_search(&test, &set);
        const flow_verdict verdict = run(test);
        if (verdict == FLOW_IMPOSSIBLE) {
            ASSERT_FALSE(brute::schedulable(set, FLOW_MAX_BYTES_PER_S));
            continue;
        }
        ASSERT_EQ(verdict, FLOW_SCHEDULABLE);
        ASSERT_TRUE(brute::schedulable(set, test.bytes_per_s));
        ASSERT_FALSE(brute::schedulable(set, test.bytes_per_s - 1)) << test.bytes_per_s;
        found++;
        by_load += test.bytes_per_s == flow_load_bandwidth(&set);
    }
    EXPECT_GT(found, 5000);
    EXPECT_GT(by_load, 50);
}

// A piece of a search is no longer than was asked for.
TEST(flow_schedule, looks_at_no_more_points_than_asked)
{
    std::mt19937_64 random(6);
    for (int i = 0; i < 100; i++) {
        const flow_set set = brute::any_set(random);
        flow_test test;
        flow_test_start_search(&test, &set);
        while (test.verdict == FLOW_GOES_ON) {
            const uint64_t before = test.points;
            flow_test_run(&test, 2);
            ASSERT_LE(test.points, before + 2);
        }
    }
}

} // namespace
