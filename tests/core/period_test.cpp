// SPDX-License-Identifier: Apache-2.0
// Counters and periods alone (B1): preloads that overflow at the k-th event for every width, differences
// across a wrap, deadlines on the grid however late they are computed.
#include "core/event_counter.h"
#include "core/period.h"
#include <gtest/gtest.h>
#include <random>

namespace period_test {
namespace {

period period_from(uint64_t start, uint64_t length, uint64_t now)
{
    period made{{0, start, length}, 0, 0};
    period_start(&made, now);
    return made;
}

TEST(EventCounter, B1_OverflowsAtTheKthEvent)
{
    for (const uint32_t bits : {8u, 31u, 32u, 48u, 63u, 64u}) {
        event_counter counter{bits, 0};
        const uint64_t mask = event_counter_mask(&counter);
        for (const uint64_t events : {uint64_t{1}, uint64_t{2}, uint64_t{100}, mask / 2, mask / 2 + 1}) {
            const uint64_t preload = event_counter_arm(&counter, events);
            EXPECT_LE(preload, mask);
            EXPECT_EQ((preload + events) & mask, 0u) << bits << " bits";
            EXPECT_NE((preload + events - 1) & mask, 0u) << bits << " bits";
        }
    }
}

TEST(EventCounter, B1_MoreThanItsReachIsArmedAtTheReachAndNothingAtOne)
{
    event_counter counter{32, 0};
    EXPECT_EQ(event_counter_arm(&counter, uint64_t{1} << 40), uint64_t{1} << 31);
    EXPECT_EQ(event_counter_arm(&counter, UINT64_MAX), uint64_t{1} << 31);
    EXPECT_EQ(event_counter_arm(&counter, 0), 0xFFFFFFFFu);
}

TEST(EventCounter, B1_CountsAcrossItsWrap)
{
    for (const uint32_t bits : {8u, 32u, 64u}) {
        event_counter counter{bits, 0};
        const uint64_t mask = event_counter_mask(&counter);
        const uint64_t preload = event_counter_arm(&counter, 3);
        EXPECT_EQ(event_counter_advance(&counter, (preload + 2) & mask), 2u);
        EXPECT_EQ(event_counter_advance(&counter, (preload + 9) & mask), 7u);
        EXPECT_EQ(event_counter_advance(&counter, (preload + 9) & mask), 0u);
    }
}

TEST(Period, B1_DeadlinesFollowFromTheGridAndNotFromWhenSomebodyLooked)
{
    std::mt19937_64 random(1);
    period late = period_from(1000, 100, 1000);
    uint64_t now = 1000;
    uint64_t ended = 0;
    for (int i = 0; i < 10000; i++) {
        now += random() % (i % 10 == 0 ? 1000 : 50);
        ended += period_advance(&late, now);
        ASSERT_EQ(late.number, (now - 1000) / 100);
        ASSERT_EQ(late.end_ticks, 1000 + (late.number + 1) * 100);
        ASSERT_EQ(ended, late.number);
    }
}

TEST(Period, B1_AtTheDeadlineThePeriodIsOverAndBeforeItIsNot)
{
    period at = period_from(0, 10, 0);
    EXPECT_EQ(period_advance(&at, 9), 0u);
    EXPECT_EQ(period_advance(&at, 10), 1u);
    EXPECT_EQ(period_advance(&at, 19), 0u);
    EXPECT_EQ(period_advance(&at, 40), 3u);
    EXPECT_EQ(at.end_ticks, 50u);
}

TEST(Period, B1_OneThatBeginsLaterIsOnTheSameGrid)
{
    const period early = period_from(7, 100, 7);
    const period late = period_from(7, 100, 555);
    EXPECT_EQ(late.number, 5u);
    EXPECT_EQ(late.end_ticks, 607u);
    EXPECT_EQ((late.end_ticks - early.end_ticks) % 100, 0u);
    EXPECT_EQ(period_from(1000, 100, 3).number, 0u); // before the grid: its first period
}

TEST(Period, B8_AGridThatBeginsWhereAPeriodEndsChangesTheLengthOnlyThen)
{
    period changed = period_from(0, 100, 350);
    const period_grid grid{4, 400, 30};
    period_change_grid(&changed, &grid, 360);
    EXPECT_EQ(changed.number, 3u);
    EXPECT_EQ(changed.end_ticks, 400u);
    EXPECT_EQ(period_advance(&changed, 400), 1u);
    EXPECT_EQ(changed.end_ticks, 430u);
}

TEST(Period, B8_WhoHearsOfAGridLateHasItsNumbersAndDeadlines)
{
    period prompt = period_from(0, 100, 350);
    period late = prompt;
    const period_grid grid{4, 400, 30};
    period_change_grid(&prompt, &grid, 360);
    period_advance(&prompt, 470);
    period_advance(&late, 470);
    period_change_grid(&late, &grid, 470);
    EXPECT_EQ(late.number, prompt.number);
    EXPECT_EQ(late.end_ticks, prompt.end_ticks);
}

} // namespace
} // namespace period_test
