// SPDX-License-Identifier: Apache-2.0
// Time stamps of the parts of a packet's path (F5), with a clock that the test moves.
#include "core/path_costs.h"
#include <array>
#include <gtest/gtest.h>

namespace {

uint64_t now = 1000;
path_recorder *here = nullptr;

class PathCosts : public ::testing::Test {
protected:
    void SetUp() override
    {
        recorder = {};
        recorder.parts = parts.data();
        parts.fill({});
        here = &recorder;
    }

    void TearDown() override { here = nullptr; }

    std::array<status_path_cost, BH_PATH_PART_COUNT> parts{};
    path_recorder recorder{};
};

} // namespace

extern "C" {

path_recorder *path_recorder_here(void)
{
    return here;
}

uint64_t path_clock(void)
{
    return now;
}
}

namespace {

TEST_F(PathCosts, nothing_is_recorded_where_nobody_asked)
{
    here = nullptr;
    const path_mark mark = path_begin();
    path_open(BH_PATH_PART_ENGINE);
    now += 50;
    path_end(&mark, BH_PATH_PART_PARSE);
    path_close(BH_PATH_PART_ENGINE, 0);
    EXPECT_EQ(path_now(), 0u);
    for (const auto &part : parts) {
        EXPECT_EQ(part.count, 0u);
    }
}

TEST_F(PathCosts, least_most_and_sum)
{
    for (const uint64_t ticks : {70u, 30u, 50u}) {
        const path_mark mark = path_begin();
        now += ticks;
        path_end(&mark, BH_PATH_PART_PARSE);
    }
    const status_path_cost &cost = parts[BH_PATH_PART_PARSE];
    EXPECT_EQ(cost.count, 3u);
    EXPECT_EQ(cost.min, 30u);
    EXPECT_EQ(cost.max, 70u);
    EXPECT_EQ(cost.sum, 150u);
}

TEST_F(PathCosts, what_is_within_is_counted_apart)
{
    const path_mark outer = path_begin();
    now += 10;
    const path_mark inner = path_begin();
    now += 25;
    path_end(&inner, BH_PATH_PART_PARSE);
    now += 7;
    path_end(&outer, BH_PATH_PART_FINALIZE);
    EXPECT_EQ(parts[BH_PATH_PART_PARSE].sum, 25u);
    EXPECT_EQ(parts[BH_PATH_PART_FINALIZE].sum, 17u);
}

TEST_F(PathCosts, what_a_stamp_takes_is_not_counted)
{
    recorder.empty_ticks = 4;
    const path_mark outer = path_begin();
    now += 10;
    const path_mark inner = path_begin();
    now += 20 + 4;
    path_end(&inner, BH_PATH_PART_PARSE);
    now += 10 + 2 * 4; // its own time, and that of the inner part's begin
    path_end(&outer, BH_PATH_PART_FINALIZE);
    EXPECT_EQ(parts[BH_PATH_PART_PARSE].sum, 20u);
    EXPECT_EQ(parts[BH_PATH_PART_FINALIZE].sum, 20u);
}

TEST_F(PathCosts, an_allowance_and_steps)
{
    const path_mark mark = path_begin();
    now += 100;
    path_record(&recorder, &mark, BH_PATH_PART_ENGINE, 60, 1);
    EXPECT_EQ(parts[BH_PATH_PART_ENGINE].sum, 40u);
    path_record(&recorder, &mark, BH_PATH_PART_ENGINE, 200, 1);
    EXPECT_EQ(parts[BH_PATH_PART_ENGINE].min, 0u);

    const path_mark loop = path_begin();
    now += 100;
    path_record(&recorder, &loop, BH_PATH_PART_FIND_EARLIEST, 0, 3);
    EXPECT_EQ(parts[BH_PATH_PART_FIND_EARLIEST].max, 34u); // rounded up
    path_record(&recorder, &loop, BH_PATH_PART_FIND_EARLIEST, 0, 0);
    EXPECT_EQ(parts[BH_PATH_PART_FIND_EARLIEST].count, 1u);
}

TEST_F(PathCosts, an_open_part_ends_once)
{
    path_open(BH_PATH_PART_TRANSPORT);
    EXPECT_EQ(path_opened_at(BH_PATH_PART_TRANSPORT), now);
    now += 5;
    path_close(BH_PATH_PART_TRANSPORT, 0);
    path_close(BH_PATH_PART_TRANSPORT, 0);
    EXPECT_EQ(parts[BH_PATH_PART_TRANSPORT].count, 1u);
    path_open(BH_PATH_PART_TRANSPORT);
    path_drop(BH_PATH_PART_TRANSPORT);
    path_close(BH_PATH_PART_TRANSPORT, 0);
    EXPECT_EQ(parts[BH_PATH_PART_TRANSPORT].count, 1u);
}

TEST_F(PathCosts, each_value_has_a_bucket_and_the_last_takes_the_rest)
{
    for (uint64_t ticks = 0; ticks < 8; ticks++) {
        path_add(&recorder, BH_PATH_PART_PARSE, ticks);
        EXPECT_EQ(parts[BH_PATH_PART_PARSE].histogram[ticks], 1u);
    }
    path_add(&recorder, BH_PATH_PART_PARSE, 9); // 8 and 9 are one
    EXPECT_EQ(parts[BH_PATH_PART_PARSE].histogram[8], 1u);
    path_add(&recorder, BH_PATH_PART_PARSE, UINT64_MAX);
    EXPECT_EQ(parts[BH_PATH_PART_PARSE].histogram[PATH_COST_BUCKETS - 1], 1u);
}

} // namespace
