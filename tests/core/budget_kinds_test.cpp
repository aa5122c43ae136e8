// SPDX-License-Identifier: Apache-2.0
// Two counters (B3): a budget for each, of which the first that is spent throttles; or one for their sum, for
// which no hardware overflows. The counted events come in any mixture.
#include "fake_counters.h"
#include <array>
#include <gtest/gtest.h>
#include <random>

namespace budget_kinds_test {
namespace {

struct outcome {
    uint64_t events[2] = {0, 0};
    unsigned interrupts = 0;
};

// Events one at a time, from counter 1 with a chance of `second_of_100` in 100, until it is throttled.
outcome run_until_throttled(const reservation_parameters &parameters, unsigned second_of_100, unsigned seed)
{
    std::mt19937 random(seed);
    budget budget = budget_of(parameters);
    fake_counters counters(parameters.counter_bits);
    outcome seen;
    budget_start(&budget, 0);
    bool runs = counters.obey(budget_load(&budget, 0));
    while (runs) {
        const unsigned which = random() % 100 < second_of_100 ? 1 : 0;
        counters.count(which, 1);
        seen.events[which]++;
        if (counters.overflowed()) {
            seen.interrupts++;
            runs = counters.obey(budget_overflow(&budget, 1, counters.stop()));
        }
    }
    return seen;
}

reservation_parameters each(uint64_t reads, uint64_t writes)
{
    reservation_parameters parameters = reservation_of(reads, 1000);
    parameters.kind = RESERVATION_EACH;
    parameters.limit_events[1] = writes;
    return parameters;
}

reservation_parameters sum(uint64_t events, uint64_t slack)
{
    reservation_parameters parameters = reservation_of(events, 1000);
    parameters.kind = RESERVATION_SUM;
    parameters.slack_events = slack;
    return parameters;
}

unsigned log2_rounded_up(uint64_t value)
{
    unsigned bits = 0;
    while ((uint64_t{1} << bits) < value) {
        bits++;
    }
    return bits;
}

TEST(BudgetEach, B3_WhicheverIsSpentFirstThrottles)
{
    const outcome reads = run_until_throttled(each(1000, 500), 10, 1);
    EXPECT_EQ(reads.events[0], 1000u);
    EXPECT_LT(reads.events[1], 500u);
    const outcome writes = run_until_throttled(each(1000, 500), 60, 1);
    EXPECT_EQ(writes.events[1], 500u);
    EXPECT_LT(writes.events[0], 1000u);
    EXPECT_EQ(reads.interrupts, 1u);
}

TEST(BudgetEach, B3_OneOfThemMayBeUnlimitedOrZero)
{
    const outcome only_writes = run_until_throttled(each(RESERVATION_UNLIMITED, 50), 10, 2);
    EXPECT_EQ(only_writes.events[1], 50u);
    EXPECT_EQ(run_until_throttled(each(1000, 0), 10, 2).events[0], 0u);
}

TEST(BudgetEach, T5_TheStatisticsTellThemApart)
{
    budget budget = budget_of(each(1000, 500));
    fake_counters counters(budget.reservation.parameters.counter_bits);
    const reservation_statistics &seen = budget.reservation.statistics;
    budget_start(&budget, 0);
    for (const auto &[period, first, second] :
         {std::array<uint64_t, 3>{1, 30, 20}, {2, 10, 60}, {3, 40, 5}}) {
        ASSERT_TRUE(counters.obey(budget_load(&budget, period * 1000 - 999)));
        counters.count(0, first);
        counters.count(1, second);
        (void)counters.obey(budget_timer(&budget, period * 1000, counters.stop()));
        budget_save(&budget, counters.stop());
    }
    EXPECT_EQ(seen.events, 165u);
    EXPECT_EQ(seen.second_events, 85u);
    EXPECT_EQ(seen.period_max_events, 40u);
    EXPECT_EQ(seen.second_max_events, 60u);
}

TEST(BudgetSum, T5_HasNoSecondBudget)
{
    budget budget = budget_of(sum(1000, 0));
    fake_counters counters(budget.reservation.parameters.counter_bits);
    budget_start(&budget, 0);
    ASSERT_TRUE(counters.obey(budget_load(&budget, 1)));
    counters.count(1, 7);
    (void)budget_timer(&budget, 1000, counters.stop());
    EXPECT_EQ(budget.reservation.statistics.period_max_events, 7u);
    EXPECT_EQ(budget.reservation.statistics.second_events, 0u);
    EXPECT_EQ(budget.reservation.statistics.second_max_events, 0u);
}

TEST(BudgetSum, B3_WithoutSlackTheSumIsExactInAnyMixture)
{
    for (const uint64_t events : {1u, 2u, 3u, 7u, 100u, 1023u, 5000u}) {
        for (const unsigned second : {0u, 1u, 30u, 50u, 99u, 100u}) {
            for (const uint64_t slack : {0u, 1u}) {
                const outcome seen = run_until_throttled(sum(events, slack), second, 3);
                EXPECT_EQ(seen.events[0] + seen.events[1], events);
                EXPECT_LE(seen.interrupts, log2_rounded_up(events) + 2) << events << " at " << second;
            }
        }
    }
}

TEST(BudgetSum, B3_WithSlackTheBudgetIsUsedUpAndOvershotByLessThanTheSlack)
{
    for (const uint64_t slack : {2u, 16u, 100u}) {
        for (unsigned second = 0; second <= 100; second += 10) {
            const outcome seen = run_until_throttled(sum(5000, slack), second, 4);
            EXPECT_GE(seen.events[0] + seen.events[1], 5000u);
            EXPECT_LT(seen.events[0] + seen.events[1], 5000u + slack);
            EXPECT_LE(seen.interrupts, log2_rounded_up(5000 / slack) + 2);
        }
    }
}

TEST(BudgetSum, B3_TheSlackIsAtMostAPartOfTheBudgetAlsoOfALowerOne)
{
    EXPECT_EQ(reservation_most_slack(0), 1u);
    EXPECT_EQ(reservation_most_slack(63), 1u);
    EXPECT_EQ(reservation_most_slack(5000), 156u);
    for (const uint64_t events : {1u, 16u, 64u, 640u}) {
        for (unsigned second = 0; second <= 100; second += 10) {
            const outcome seen = run_until_throttled(sum(events, 5000), second, 6);
            const uint64_t caused = seen.events[0] + seen.events[1];
            EXPECT_GE(caused, events);
            EXPECT_LT(caused, events + reservation_most_slack(events)) << events << " at " << second;
        }
    }
}

TEST(BudgetSum, B3_ARegulatorThatLowersTheBudgetLowersTheSlack)
{
    budget budget = budget_of(sum(5000, 156));
    fake_counters counters(budget.reservation.parameters.counter_bits);
    budget_start(&budget, 0);
    const uint64_t lower[RESERVATION_COUNTERS] = {64, 0};
    ASSERT_TRUE(reservation_set_limits_now(&budget.reservation, lower, 1));
    bool runs = counters.obey(budget_load(&budget, 1));
    uint64_t caused = 0;
    while (runs) {
        counters.count(caused % 2, 1);
        caused++;
        if (counters.overflowed()) {
            runs = counters.obey(budget_overflow(&budget, 1, counters.stop()));
        }
    }
    EXPECT_GE(caused, 64u);
    EXPECT_LT(caused, 64u + reservation_most_slack(64));
}

TEST(BudgetSum, B3_NarrowCountersAreEnoughForAWideSum)
{
    reservation_parameters parameters = sum(3000, 0);
    parameters.counter_bits = 8;
    const outcome seen = run_until_throttled(parameters, 40, 5);
    EXPECT_EQ(seen.events[0] + seen.events[1], 3000u);
}

} // namespace
} // namespace budget_kinds_test
