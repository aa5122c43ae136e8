// SPDX-License-Identifier: Apache-2.0
// Budgets that change while they are in use (B8): a change takes effect at the beginning of a period, the
// same one on all cores, and as a whole or not at all.
#include "core/budget_update.h"
#include <gtest/gtest.h>

namespace budget_update_test {
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
    void timer(budget_update &update, uint64_t now, uint64_t used = 0)
    {
        const uint64_t readings[] = {action.preload[0] + used, 0};

        budget_save(&own, readings);
        if (const budget_setting *setting = budget_update_current(&update, now);
            setting->sequence != applied) {
            applied = setting->sequence;
            budget_apply(&own, setting, now);
        }
        action = budget_timer(&own, now, readings);
    }

    uint64_t left() const { return reservation_left(&own.reservation, 0); }

    budget own{};
    budget_action action{};
    uint64_t applied = 0;
};

budget_update agreed(uint64_t events, uint64_t chunk = 0)
{
    budget_update update{};
    const budget_setting first{0, events, chunk, {0, epoch, length}};

    budget_update_init(&update, &first);
    return update;
}

TEST(BudgetTerms, ChangeAtTheNextPeriodForAllCoresWheneverTheyLook)
{
    budget_update update = agreed(100);
    Core early(100), late(100);
    const uint64_t from = budget_update_request(&update, epoch + 500, notice, 200, 0, length);
    EXPECT_EQ(from, epoch + length);
    early.timer(update, from - 1, 60); // too early: no period has ended
    EXPECT_EQ(early.left(), 40u);
    early.timer(update, from);
    EXPECT_EQ(early.left(), 200u);
    late.timer(update, from + 300, 100);
    EXPECT_EQ(late.left(), 200u);
    EXPECT_EQ(budget_deadline(&early.own), from + length);
    EXPECT_EQ(budget_deadline(&late.own), from + length);
    EXPECT_EQ(late.own.reservation.period.number, early.own.reservation.period.number);
}

TEST(BudgetTerms, WithoutEnoughNoticeItIsThePeriodAfter)
{
    budget_update update = agreed(100);
    EXPECT_EQ(budget_update_request(&update, epoch + length - notice + 1, notice, 200, 0, length),
              epoch + 2 * length);
    update = agreed(100);
    EXPECT_EQ(budget_update_request(&update, epoch + length - notice, notice, 200, 0, length),
              epoch + length);
    update = agreed(100);
    EXPECT_EQ(budget_update_request(&update, 0, notice, 200, 0, length), epoch) << "before the first";
}

TEST(BudgetTerms, AnotherPeriodBeginsWhereOneEndsAndNumbersGoOn)
{
    budget_update update = agreed(100);
    Core core(100);
    const uint64_t from = budget_update_request(&update, epoch + 2500, notice, 70, 0, 300);
    ASSERT_EQ(from, epoch + 3 * length);
    core.timer(update, epoch + length);
    core.timer(update, epoch + 2 * length);
    EXPECT_EQ(core.left(), 100u);
    core.timer(update, from + 650); // late by two of the new periods
    EXPECT_EQ(core.left(), 70u);
    EXPECT_EQ(core.own.reservation.period.number, 5u);
    EXPECT_EQ(budget_deadline(&core.own), from + 900);
    EXPECT_EQ(budget_update_request(&update, from + 650, notice, 100, 0, length), from + 900);
}

TEST(BudgetTerms, AThrottledCoreRunsAgainWithTheNewBudget)
{
    budget_update update = agreed(100);
    Core core(100);
    const uint64_t readings[] = {core.action.preload[0] + 100, 0};
    EXPECT_FALSE(budget_overflow(&core.own, epoch + 400, readings).runs);
    budget_update_request(&update, epoch + 500, notice, 200, 0, length);
    core.timer(update, epoch + 500);
    EXPECT_FALSE(core.action.runs) << "not before the period ends";
    core.timer(update, epoch + length);
    EXPECT_TRUE(core.action.runs);
    EXPECT_EQ(core.left(), 200u);
}

TEST(BudgetTerms, OnesThatWaitAreReplacedAndNoneIsLostToACoreThatWasOff)
{
    budget_update update = agreed(100);
    Core core(100);
    budget_update_request(&update, epoch + 100, notice, 200, 0, length);
    EXPECT_EQ(budget_update_latest(&update)->events, 200u);
    EXPECT_EQ(budget_update_current(&update, epoch + 200)->events, 100u);
    budget_update_request(&update, epoch + 300, notice, 300, 0, 500);
    budget_update_request(&update, epoch + 5 * length, notice, 400, 0, 500);
    core.timer(update, epoch + 5 * length + 1); // has seen none of the changes
    EXPECT_EQ(core.left(), 300u);
    core.timer(update, epoch + 6 * length);
    EXPECT_EQ(core.left(), 400u);
}

TEST(BudgetTerms, ACoreThatWasOffWhenTheyBeganHasThemWhenItStarts)
{
    budget_update update = agreed(100);
    Core core(100);
    const uint64_t readings[] = {core.action.preload[0] + 70, 0};
    budget_save(&core.own, readings);
    budget_stop(&core.own, epoch + 50);
    budget_update_request(&update, epoch + 100, notice, 200, 0, 400);
    const uint64_t now = epoch + length + 450;
    budget_apply(&core.own, budget_update_current(&update, now), now);
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
    budget_update update = agreed(80, 10);
    Core core(0, &share);
    budget_update_request(&update, epoch + 100, notice, 160, 20, length);
    core.timer(update, epoch + length, 10);
    EXPECT_EQ(core.left(), 20u) << "a chunk of the new ones";
    EXPECT_EQ(event_pool_left(&pool, 1), 140u);
}

// A manager lowers it while the domain is off: no VCPU gets events of the old one after the restart.
TEST(BudgetTerms, ASharedBudgetOfAStoppedDomainIsTheNewOneFromItsFirstPeriodOn)
{
    event_pool pool{};
    reclaim share{};
    event_pool_init(&pool, 80, 0);
    ASSERT_TRUE(reclaim_init(&share, &pool, 0, 10, false, false));
    budget_update update = agreed(80, 10);
    Core core(0, &share);
    const uint64_t readings[RESERVATION_COUNTERS] = {0, 0};
    budget_save(&core.own, readings);
    budget_stop(&core.own, epoch + 50);
    budget_update_request(&update, epoch + 100, notice, 16, 2, length);
    const uint64_t now = epoch + 3 * length;
    budget_apply(&core.own, budget_update_current(&update, now), now);
    budget_start(&core.own, now);
    EXPECT_TRUE(budget_load(&core.own, now).runs);
    EXPECT_EQ(core.left(), 2u);
    EXPECT_EQ(event_pool_left(&pool, core.own.reservation.period.number), 14u);
}

TEST(BudgetTerms, WhatIsOutOfRangeChangesNothing)
{
    budget_update update = agreed(100);
    EXPECT_EQ(budget_update_request(&update, epoch, notice, 1ull << 40, 0, length), 0u);
    EXPECT_EQ(budget_update_request(&update, epoch, notice, 1, 0, 0), 0u);
    EXPECT_EQ(budget_update_request(&update, epoch, notice, 1, 0, ~0ull), 0u);
    EXPECT_EQ(budget_update_latest(&update)->sequence, 0u);
    EXPECT_EQ(budget_update_current(&update, epoch + length)->events, 100u);
    EXPECT_NE(budget_update_request(&update, epoch, notice, 0, 0, length), 0u) << "0 is a budget";
}

} // namespace
} // namespace budget_update_test
