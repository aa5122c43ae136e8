// SPDX-License-Identifier: Apache-2.0
// Budgets that change while they are in use (B8): at the beginning of a period, the same one on all cores,
// and whole or not at all.
#include "core/budget_terms.h"
#include <gtest/gtest.h>

namespace {

constexpr uint64_t epoch = 10'000;
constexpr uint64_t length = 1'000;
constexpr uint64_t notice = 10;

struct Core {
    explicit Core(uint64_t events, reclaim *share = nullptr)
    {
        reservation_parameters parameters{};
        parameters.counter_bits = 32;
        parameters.limit_events[0] = events;
        parameters.grid = {0, epoch, length};
        EXPECT_TRUE(budget_init(&own, &parameters, share));
        budget_start(&own, epoch);
        action = budget_load(&own, epoch);
    }

    // The timer's interrupt, after `used` events since the last one.
    void timer(budget_agreement &agreement, uint64_t now, uint64_t used = 0)
    {
        const uint64_t readings[] = {action.preload[0] + used, 0};

        budget_save(&own, readings);
        if (const budget_terms *terms = budget_agreement_at(&agreement, now); terms->sequence != taken) {
            taken = terms->sequence;
            budget_take_terms(&own, terms, now);
        }
        action = budget_timer(&own, now, readings);
    }

    uint64_t left() const { return reservation_left(&own.reservation, 0); }

    budget own{};
    budget_action action{};
    uint64_t taken = 0;
};

budget_agreement agreed(uint64_t events, uint64_t chunk = 0)
{
    budget_agreement agreement{};
    const budget_terms first{0, events, chunk, {0, epoch, length}};

    budget_agreement_init(&agreement, &first);
    return agreement;
}

} // namespace

TEST(BudgetTerms, ChangeAtTheNextPeriodForAllCoresWheneverTheyLook)
{
    budget_agreement agreement = agreed(100);
    Core early(100), late(100);
    const uint64_t from = budget_agreement_change(&agreement, epoch + 500, notice, 200, 0, length);
    EXPECT_EQ(from, epoch + length);
    early.timer(agreement, from - 1, 60); // too early: nothing ended
    EXPECT_EQ(early.left(), 40u);
    early.timer(agreement, from);
    EXPECT_EQ(early.left(), 200u);
    late.timer(agreement, from + 300, 100);
    EXPECT_EQ(late.left(), 200u);
    EXPECT_EQ(budget_deadline(&early.own), from + length);
    EXPECT_EQ(budget_deadline(&late.own), from + length);
    EXPECT_EQ(late.own.reservation.period.number, early.own.reservation.period.number);
}

TEST(BudgetTerms, WithoutEnoughNoticeItIsThePeriodAfter)
{
    budget_agreement agreement = agreed(100);
    EXPECT_EQ(budget_agreement_change(&agreement, epoch + length - notice + 1, notice, 200, 0, length),
              epoch + 2 * length);
    agreement = agreed(100);
    EXPECT_EQ(budget_agreement_change(&agreement, epoch + length - notice, notice, 200, 0, length),
              epoch + length);
    agreement = agreed(100);
    EXPECT_EQ(budget_agreement_change(&agreement, 0, notice, 200, 0, length), epoch) << "before the first";
}

TEST(BudgetTerms, AnotherPeriodBeginsWhereOneEndsAndNumbersGoOn)
{
    budget_agreement agreement = agreed(100);
    Core core(100);
    const uint64_t from = budget_agreement_change(&agreement, epoch + 2500, notice, 70, 0, 300);
    ASSERT_EQ(from, epoch + 3 * length);
    core.timer(agreement, epoch + length);
    core.timer(agreement, epoch + 2 * length);
    EXPECT_EQ(core.left(), 100u);
    core.timer(agreement, from + 650); // late by two of the new ones
    EXPECT_EQ(core.left(), 70u);
    EXPECT_EQ(core.own.reservation.period.number, 5u);
    EXPECT_EQ(budget_deadline(&core.own), from + 900);
    EXPECT_EQ(budget_agreement_change(&agreement, from + 650, notice, 100, 0, length), from + 900);
}

TEST(BudgetTerms, AThrottledCoreRunsAgainWithTheNewBudget)
{
    budget_agreement agreement = agreed(100);
    Core core(100);
    const uint64_t readings[] = {core.action.preload[0] + 100, 0};
    EXPECT_FALSE(budget_overflow(&core.own, epoch + 400, readings).runs);
    budget_agreement_change(&agreement, epoch + 500, notice, 200, 0, length);
    core.timer(agreement, epoch + 500);
    EXPECT_FALSE(core.action.runs) << "not before the period ends";
    core.timer(agreement, epoch + length);
    EXPECT_TRUE(core.action.runs);
    EXPECT_EQ(core.left(), 200u);
}

TEST(BudgetTerms, OnesThatWaitAreReplacedAndNoneIsLostToACoreThatWasOff)
{
    budget_agreement agreement = agreed(100);
    Core core(100);
    budget_agreement_change(&agreement, epoch + 100, notice, 200, 0, length);
    EXPECT_EQ(budget_agreement_latest(&agreement)->events, 200u);
    EXPECT_EQ(budget_agreement_at(&agreement, epoch + 200)->events, 100u);
    budget_agreement_change(&agreement, epoch + 300, notice, 300, 0, 500);
    budget_agreement_change(&agreement, epoch + 5 * length, notice, 400, 0, 500);
    core.timer(agreement, epoch + 5 * length + 1); // has seen none of them
    EXPECT_EQ(core.left(), 300u);
    core.timer(agreement, epoch + 6 * length);
    EXPECT_EQ(core.left(), 400u);
}

TEST(BudgetTerms, ACoreThatWasOffWhenTheyBeganHasThemWhenItStarts)
{
    budget_agreement agreement = agreed(100);
    Core core(100);
    const uint64_t readings[] = {core.action.preload[0] + 70, 0};
    budget_save(&core.own, readings);
    budget_stop(&core.own, epoch + 50);
    budget_agreement_change(&agreement, epoch + 100, notice, 200, 0, 400);
    const uint64_t now = epoch + length + 450;
    budget_take_terms(&core.own, budget_agreement_at(&agreement, now), now);
    budget_start(&core.own, now);
    EXPECT_TRUE(budget_load(&core.own, now).runs);
    EXPECT_EQ(core.left(), 200u);
    EXPECT_EQ(budget_deadline(&core.own), epoch + length + 800);
    EXPECT_EQ(core.own.reservation.statistics.periods, 1u);
}

TEST(BudgetTerms, ASharedBudgetIsThePools)
{
    event_pool pool{};
    reclaim share{};
    event_pool_init(&pool, 80, 0);
    ASSERT_TRUE(reclaim_init(&share, &pool, 0, 10, false, false));
    budget_agreement agreement = agreed(80, 10);
    Core core(0, &share);
    budget_agreement_change(&agreement, epoch + 100, notice, 160, 20, length);
    core.timer(agreement, epoch + length, 10);
    EXPECT_EQ(core.left(), 20u) << "a chunk of the new ones";
    EXPECT_EQ(event_pool_left(&pool, 1), 140u);
}

TEST(BudgetTerms, WhatIsOutOfRangeChangesNothing)
{
    budget_agreement agreement = agreed(100);
    EXPECT_EQ(budget_agreement_change(&agreement, epoch, notice, 1ull << 40, 0, length), 0u);
    EXPECT_EQ(budget_agreement_change(&agreement, epoch, notice, 1, 0, 0), 0u);
    EXPECT_EQ(budget_agreement_change(&agreement, epoch, notice, 1, 0, ~0ull), 0u);
    EXPECT_EQ(budget_agreement_latest(&agreement)->sequence, 0u);
    EXPECT_EQ(budget_agreement_at(&agreement, epoch + length)->events, 100u);
    EXPECT_NE(budget_agreement_change(&agreement, epoch, notice, 0, 0, length), 0u) << "0 is a budget";
}
