// SPDX-License-Identifier: Apache-2.0
// Pieces that need no test of their points, and loads that are very close to 1, compared with the definition.
#include "core/flow_load.h"
#include "core/flow_pieces.h"
#include "core/flow_search.h"
#include "flow_brute.h"
#include <gtest/gtest.h>

namespace flow_pieces_test {
namespace {

constexpr uint64_t end_of_time = 1 << 16;

// Costs that do not depend on the bandwidth.
flow_set without_bytes(std::mt19937_64 &random)
{
    flow_set set = brute::any_set(random);
    set.chunk_bytes = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        set.tasks[i].fixed += random() % 8;
        set.tasks[i].bytes = 0;
        set.tasks[i].block_bytes = 0;
    }
    return set;
}

void sort(flow_pieces &pieces, const flow_set &set)
{
    pieces.count = 0;
    while (!flow_pieces_sort_step(&pieces, &set)) {
    }
}

TEST(flow_pieces, every_point_of_a_passed_piece_is_in_order)
{
    std::mt19937_64 random(7);
    int passed = 0;
    int left = 0;
    for (int i = 0; i < 5000; i++) {
        const bool slow = random() % 2 != 0; // a byte/s is much here: the rounding of rates matters
        const flow_set set = slow ? without_bytes(random) : brute::any_set(random);
        const uint64_t b = slow ? 1 + random() % 3 : 1'000'000 * (500 + random() % 20000);
        if (brute::load(set, b) > 0) {
            continue;
        }
        flow_pieces pieces;
        struct flow_load load;
        sort(pieces, set);
        ASSERT_NE(flow_load_all(&load, &set, b), FLOW_LOAD_OVER);
        flow_pieces_pass(&pieces, &load);
        for (uint32_t k = 0; k < set.count; k++) {
            const uint64_t begin = set.tasks[pieces.order[k]].first;
            const uint64_t end = k + 1 < set.count ? set.tasks[pieces.order[k + 1]].first : begin + 1000;
            ASSERT_LE(k == 0 ? 0 : set.tasks[pieces.order[k - 1]].first, begin) << "sorted";
            (pieces.passed[k] ? passed : left)++;
            for (uint64_t t = begin; pieces.passed[k] && t < end; t++) {
                ASSERT_TRUE(brute::in_order(set, b, t)) << i << " at " << t;
            }
        }
    }
    EXPECT_GT(passed, 1000);
    EXPECT_GT(left, 1000);
}

TEST(flow_pieces, what_is_left_is_the_last_time_of_a_piece_that_is_not_passed)
{
    std::mt19937_64 random(8);
    for (int i = 0; i < 2000; i++) {
        const flow_set set = brute::any_set(random);
        flow_pieces pieces;
        sort(pieces, set);
        for (uint32_t k = 0; k < set.count; k++) {
            pieces.passed[k] = random() % 2 != 0;
        }
        const uint64_t t = random() % 300;
        uint64_t expected = 0;
        for (uint64_t at = 0; at <= t; at++) {
            uint32_t last = set.count; // the piece that contains `at`
            for (uint32_t k = 0; k < set.count && set.tasks[pieces.order[k]].first <= at; k++) {
                last = k;
            }
            expected = last != set.count && !pieces.passed[last] ? at : expected;
        }
        ASSERT_EQ(flow_pieces_left(&pieces, &set, t), expected) << i;
    }
}

// Periods with a large common multiple, deadlines somewhat shorter: T* is 1 / (1 - U').
flow_set without_hyperperiod()
{
    flow_set set = {
        .count = 3, .chunk_bytes = 4096, .dma_fixed = 0, .lead_fixed = 0, .lead_bytes = 0, .tasks = {}};
    const uint64_t periods[] = {2'000'003, 2'400'011, 3'000'017};
    for (uint32_t i = 0; i < set.count; i++) {
        set.tasks[i] = {.period = periods[i],
                        .first = periods[i] - 100'000,
                        .fixed = 0,
                        .bytes = 10'000,
                        .block_fixed = 0,
                        .block_bytes = 1808,
                        .several = true};
    }
    return set;
}

TEST(flow_pieces, a_load_too_near_to_one_is_not_decided_and_costs_little)
{
    const flow_set set = without_hyperperiod();
    const uint64_t least = flow_search_load(&set);
    flow_test test;
    uint64_t low = least;
    uint64_t decided = 2 * least;
    while (decided - low > 1) {
        const uint64_t middle = low + (decided - low) / 2;
        flow_test_start(&test, &set, middle);
        (test.verdict == FLOW_UNDECIDED ? low : decided) = middle;
    }

    ASSERT_GT(decided, least);
    EXPECT_LT(decided - least, least / FLOW_MAX_LONGEST + 2);
    for (const uint64_t b : {least, decided - 1}) {
        flow_test_start(&test, &set, b);
        EXPECT_EQ(test.verdict, FLOW_UNDECIDED);
    }
    flow_test_start(&test, &set, decided);
    EXPECT_EQ(test.verdict, FLOW_GOES_ON);
    EXPECT_EQ(test.load.verdict, FLOW_LOAD_BELOW);
    EXPECT_LT(test.load.horizon, FLOW_MAX_LONGEST * 3'000'017);
    EXPECT_GT(test.load.horizon, end_of_time);
}

TEST(flow_pieces, the_search_finds_the_smallest_bandwidth_that_is_decided)
{
    const flow_set set = without_hyperperiod();
    flow_search search;
    flow_test test;

    flow_search_start(&search, &set);
    ASSERT_EQ(flow_search_run(&search, UINT64_MAX), FLOW_SCHEDULABLE);
    const uint64_t found = search.test.bytes_per_s;
    flow_test_start(&test, &set, found);
    EXPECT_EQ(flow_test_run(&test, UINT64_MAX), FLOW_SCHEDULABLE);
    flow_test_start(&test, &set, found - 1);
    EXPECT_NE(flow_test_run(&test, UINT64_MAX), FLOW_SCHEDULABLE);
}

// If every piece is schedulable without a test of its points, the number of points does not matter.
TEST(flow_pieces, a_load_near_to_one_is_decided_where_no_point_needs_a_look)
{
    flow_set set = without_hyperperiod();
    for (uint32_t i = 0; i < set.count; i++) {
        set.tasks[i].first = 4 * set.tasks[i].period;
    }
    const uint64_t b = flow_search_load(&set) + 10;
    flow_test test;
    flow_test_start(&test, &set, b);
    EXPECT_EQ(test.verdict, FLOW_SCHEDULABLE);
    EXPECT_EQ(test.points, 0u);
}

} // namespace
} // namespace flow_pieces_test
