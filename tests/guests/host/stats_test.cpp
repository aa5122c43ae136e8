// SPDX-License-Identifier: Apache-2.0
//
// The statistics in the periodic task's reports.
extern "C" {
#include "guests/runtime/stats.h"
}

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace stats_test {
namespace {

std::string shown(const stats &stats, void (*append)(const struct stats *, struct text *))
{
    char buffer[1000];
    struct text text;
    text_start(&text, buffer, sizeof(buffer));
    append(&stats, &text);
    EXPECT_FALSE(text.truncated);
    return buffer;
}

stats of(std::initializer_list<uint64_t> values)
{
    stats stats = {};
    for (uint64_t value : values)
        stats_add(&stats, value);
    return stats;
}

TEST(Stats, SummaryHasExtremesAndRoundedMean)
{
    EXPECT_EQ(shown(of({5, 3, 9}), stats_append_summary), R"({"min": 3, "mean": 5, "max": 9})");
    EXPECT_EQ(shown(of({0}), stats_append_summary), R"({"min": 0, "mean": 0, "max": 0})");
    EXPECT_EQ(shown(of({}), stats_append_summary), R"({"min": 0, "mean": 0, "max": 0})");
}

TEST(Stats, BucketsArePowersOfTwo)
{
    EXPECT_EQ(shown(of({0, 1}), stats_append_histogram), "[2]");
    EXPECT_EQ(shown(of({2, 3, 4, 7, 8}), stats_append_histogram), "[0, 2, 2, 1]");
    EXPECT_EQ(shown(of({}), stats_append_histogram), "[]");
}

TEST(Stats, LastBucketTakesAllLongerOnes)
{
    const stats stats = of({1ull << 39, 1ull << 40, UINT64_MAX});
    EXPECT_EQ(stats.histogram[STATS_BUCKETS - 1], 3u);
    EXPECT_EQ(stats.max_ns, UINT64_MAX);
}

} // namespace
} // namespace stats_test
