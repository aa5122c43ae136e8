// SPDX-License-Identifier: Apache-2.0
// The schedulability test and the smallest bandwidth compared with the definition, point by point.
#include "core/flow_search.h"
#include "flow_brute.h"
#include <gtest/gtest.h>

namespace flow_schedule_test {
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
        flow_search search;
        flow_search_start(&search, &set);
        while (search.test.verdict == FLOW_GOES_ON) {
            flow_search_run(&search, 3);
        }
        const flow_test &test = search.test;
        const flow_verdict verdict = test.verdict;
        if (verdict == FLOW_IMPOSSIBLE) {
            ASSERT_FALSE(brute::schedulable(set, FLOW_MAX_BYTES_PER_S));
            continue;
        }
        ASSERT_EQ(verdict, FLOW_SCHEDULABLE);
        ASSERT_TRUE(brute::schedulable(set, test.bytes_per_s));
        ASSERT_FALSE(brute::schedulable(set, test.bytes_per_s - 1)) << test.bytes_per_s;
        found++;
        by_load += test.bytes_per_s == flow_search_load(&set);
    }
    EXPECT_GT(found, 5000);
    EXPECT_GT(by_load, 50);
}

// In steps, as at EL2, including the work before the first point.
TEST(flow_schedule, verdict_is_the_same_step_by_step)
{
    std::mt19937_64 random(9);
    for (int i = 0; i < 3000; i++) {
        const flow_set set = brute::any_set(random);
        const uint64_t b = 1'000'000 * (100 + random() % 8000);
        flow_test whole;
        flow_test steps;
        flow_test_start(&whole, &set, b);
        flow_test_begin(&steps, &set, b);
        run(whole);
        while (steps.verdict == FLOW_GOES_ON) {
            flow_test_run(&steps, 1);
        }
        ASSERT_EQ(steps.verdict, whole.verdict);
        ASSERT_EQ(steps.at, whole.at);
        ASSERT_EQ(steps.demand, whole.demand);
        ASSERT_EQ(steps.points, whole.points);
    }
}

// A piece of a search is no longer than was requested.
TEST(flow_schedule, looks_at_no_more_points_than_asked)
{
    std::mt19937_64 random(6);
    for (int i = 0; i < 100; i++) {
        const flow_set set = brute::any_set(random);
        flow_search search;
        flow_search_start(&search, &set);
        while (search.test.verdict == FLOW_GOES_ON) {
            const uint64_t before = search.test.points;
            flow_search_run(&search, 2);
            ASSERT_LE(search.test.points, before + 2);
        }
    }
}

} // namespace
} // namespace flow_schedule_test
