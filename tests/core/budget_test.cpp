// SPDX-License-Identifier: Apache-2.0
// One budget on one core (B1): what the driver is told at its load, at an overflow and at its timer, what the
// statistics contain, and that bad parameters are refused.
#include "fake_counters.h"
#include <gtest/gtest.h>

namespace budget_test {
namespace {

constexpr uint64_t MANY = uint64_t{1} << 40;

struct core_under_test : fake_core {
    explicit core_under_test(const reservation_parameters &parameters) : fake_core(parameters.counter_bits)
    {
        start(budget_of(parameters));
    }

    const reservation_statistics &statistics() const { return budget.reservation.statistics; }
};

TEST(Budget, B1_ThrottlesAtTheLastEventAndRunsAgainAfterTheDeadline)
{
    core_under_test core(reservation_of(100, 1000));
    EXPECT_TRUE(core.runs);
    EXPECT_EQ(budget_deadline(&core.budget), 1000u);
    EXPECT_EQ(core.use(MANY, 400), 100u);
    EXPECT_FALSE(core.runs);
    core.timer(1000);
    EXPECT_TRUE(core.runs);
    EXPECT_EQ(core.use(MANY, 1900), 100u);
    core.timer(2000);
    EXPECT_EQ(core.statistics().events, 200u);
    EXPECT_EQ(core.statistics().periods, 2u);
    EXPECT_EQ(core.statistics().throttled_periods, 2u);
    EXPECT_EQ(core.statistics().throttled_ticks, 600u + 100u);
    EXPECT_EQ(core.statistics().overshoot_periods, 0u);
    EXPECT_EQ(core.statistics().period_max_events, 100u);
}

TEST(Budget, B1_AnEarlyTimerAndASpuriousOverflowChangeNothing)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(60, 100);
    core.timer(999);
    EXPECT_TRUE(core.counters.obey(budget_overflow(&core.budget, 999, core.counters.stop())));
    EXPECT_EQ(core.use(MANY, 999), 40u);
    // Throttled, and a late overflow interrupt finds the counters stopped.
    EXPECT_FALSE(core.counters.obey(budget_overflow(&core.budget, 999, core.counters.stop())));
    core.timer(999);
    EXPECT_FALSE(core.runs);
}

TEST(Budget, B2_CountersThatItDoesNotOwnAreNotCharged)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(MANY, 300);
    const uint64_t of_another[] = {12345, 678};
    EXPECT_FALSE(budget_overflow(&core.budget, 400, of_another).runs);
    EXPECT_TRUE(budget_timer(&core.budget, 1000, of_another).runs);
    EXPECT_EQ(core.statistics().events, 100u);
    EXPECT_EQ(core.statistics().overshoot_periods, 0u);
    EXPECT_EQ(core.statistics().throttled_ticks, 700u); // from the time at which it was first found spent
}

TEST(Budget, B1_BeforeItsStartThereIsNoDeadline)
{
    const budget waiting = budget_of(reservation_of(100, 1000));
    EXPECT_EQ(budget_deadline(&waiting), BUDGET_NO_DEADLINE);
}

TEST(Budget, B1_UnusedBudgetIsNotCarriedOver)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(10, 500);
    core.timer(1000);
    EXPECT_EQ(core.use(MANY, 1500), 100u);
}

TEST(Budget, B1_ALateTimerCountsThePeriodsThatItLost)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(MANY, 400);
    core.timer(3700);
    EXPECT_TRUE(core.runs);
    EXPECT_EQ(budget_deadline(&core.budget), 4000u);
    EXPECT_EQ(core.statistics().periods, 3u);
    EXPECT_EQ(core.statistics().late_periods, 2u);
    EXPECT_EQ(core.statistics().throttled_periods, 1u);
    EXPECT_EQ(core.statistics().throttled_ticks, 3300u);
    EXPECT_EQ(core.use(MANY, 3800), 100u);
}

TEST(Budget, B1_WhatALateReadingFindsIsOvershootOfItsPeriod)
{
    core_under_test core(reservation_of(100, 1000));
    core.counters.count(0, 107);
    EXPECT_FALSE(core.counters.obey(budget_overflow(&core.budget, 10, core.counters.stop())));
    core.timer(1000);
    EXPECT_EQ(core.use(MANY, 1500), 100u); // not charged to the next period
    core.timer(2000);
    core.counters.count(0, 101); // the deadline comes before the overflow is handled
    core.timer(3000);
    EXPECT_EQ(core.statistics().overshoot_periods, 2u);
    EXPECT_EQ(core.statistics().overshoot_events, 8u);
    EXPECT_EQ(core.statistics().overshoot_max_events, 7u);
    EXPECT_EQ(core.statistics().period_max_events, 107u);
}

TEST(Budget, B1_ZeroNeverRuns)
{
    core_under_test core(reservation_of(0, 1000));
    EXPECT_FALSE(core.runs);
    for (uint64_t now = 1000; now <= 5000; now += 1000) {
        core.timer(now);
        EXPECT_FALSE(core.runs);
    }
    EXPECT_EQ(core.statistics().periods, 5u);
    EXPECT_EQ(core.statistics().throttled_ticks, 5000u);
    EXPECT_EQ(core.statistics().events, 0u);
}

TEST(Budget, B1_UnlimitedIsCountedAndNeverThrottled)
{
    reservation_parameters parameters = reservation_of(RESERVATION_UNLIMITED, 0);
    parameters.counter_bits = 8; // an overflow each 128 events
    core_under_test core(parameters);
    EXPECT_EQ(budget_deadline(&core.budget), BUDGET_NO_DEADLINE);
    EXPECT_EQ(core.use(100000, 5), 100000u);
    budget_save(&core.budget, core.counters.stop());
    EXPECT_EQ(core.statistics().events, 100000u);
    EXPECT_EQ(core.statistics().throttled_periods, 0u);
}

TEST(Budget, B1_ABudgetBeyondTheCountersReachIsCountedInPieces)
{
    reservation_parameters parameters = reservation_of(1000, 1000);
    parameters.counter_bits = 8;
    core_under_test core(parameters);
    EXPECT_EQ(core.use(MANY, 5), 1000u);
}

TEST(Budget, B5_WithoutSuspensionASpentBudgetIsCountedAndStopsNothing)
{
    reservation_parameters parameters = reservation_of(1, 1000);
    parameters.keep_running = true;
    core_under_test core(parameters);
    for (uint64_t now = 1000; now <= 3000; now += 1000) {
        EXPECT_EQ(core.use(50, now - 1), 50u);
        core.timer(now);
    }
    EXPECT_EQ(core.statistics().spent_periods, 3u);
    EXPECT_EQ(core.statistics().throttled_periods, 0u);
    EXPECT_EQ(core.statistics().overshoot_max_events, 49u);
}

TEST(Budget, B2_AStopAndAStartWithinAPeriodAreNoRefill)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(MANY, 300);
    budget_stop(&core.budget, 400);
    EXPECT_FALSE(core.budget.reservation.started);
    EXPECT_EQ(budget_deadline(&core.budget), BUDGET_NO_DEADLINE);
    budget_start(&core.budget, 500);
    EXPECT_EQ(budget_deadline(&core.budget), 1000u);
    EXPECT_FALSE(core.counters.obey(budget_load(&core.budget, 500)));
    EXPECT_EQ(core.statistics().throttled_periods, 1u);
    EXPECT_EQ(reservation_throttled_ticks(&core.budget.reservation, 700), 100u + 200u);
    budget_stop(&core.budget, 800);
    budget_start(&core.budget, 5500); // long after: a new period, on the old grid
    core.runs = core.counters.obey(budget_load(&core.budget, 5500));
    EXPECT_EQ(core.use(MANY, 5600), 100u);
    EXPECT_EQ(budget_deadline(&core.budget), 6000u);
    EXPECT_EQ(core.statistics().periods, 1u); // no guest ran in the periods between
}

TEST(Budget, B1_ThePeriodOfTheEndIsInTheMaxima)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(20, 999);
    core.timer(1000);
    core.use(70, 1001);
    budget_save(&core.budget, core.counters.stop());
    budget_stop(&core.budget, 1002);
    EXPECT_EQ(core.statistics().period_max_events, 70u); // it may never start again
    EXPECT_EQ(core.statistics().periods, 1u);
    budget_start(&core.budget, 1003);
    core.runs = core.counters.obey(budget_load(&core.budget, 1003));
    core.use(10, 1004);
    core.timer(2000);
    EXPECT_EQ(core.statistics().period_max_events, 80u); // one period, though it was stopped in it
    EXPECT_EQ(core.statistics().periods, 2u);
}

TEST(Budget, B8_NewLimitsHoldFromTheNextRechargeOn)
{
    core_under_test core(reservation_of(100, 1000));
    const uint64_t more[] = {150, 0};
    EXPECT_TRUE(budget_set_limits(&core.budget, more));
    EXPECT_EQ(core.use(MANY, 5), 100u);
    core.timer(1000);
    EXPECT_EQ(core.use(MANY, 1005), 150u);
}

TEST(Budget, B5_NewLimitsAtOnceEndAThrottlingOrBeginOne)
{
    core_under_test core(reservation_of(100, 1000));
    core.use(MANY, 5);
    const uint64_t more[] = {150, 0};
    EXPECT_TRUE(reservation_set_limits_now(&core.budget.reservation, more, 30));
    core.runs = core.counters.obey(budget_load(&core.budget, 30));
    EXPECT_EQ(core.use(20, 30), 20u);
    budget_save(&core.budget, core.counters.stop());
    const uint64_t less[] = {110, 0};
    EXPECT_TRUE(reservation_set_limits_now(&core.budget.reservation, less, 40));
    EXPECT_FALSE(budget_load(&core.budget, 40).runs);
    EXPECT_EQ(reservation_throttled_ticks(&core.budget.reservation, 50), 25u + 10u);
    EXPECT_EQ(core.statistics().throttled_periods, 1u);
}

TEST(Budget, B8_BadLimitsChangeNothing)
{
    core_under_test core(reservation_of(100, 1000));
    const uint64_t bad[][2] = {{RESERVATION_MAX_EVENTS + 1, 0}, {RESERVATION_UNLIMITED - 1, 0}, {10, 10}};
    for (const auto &limits : bad) {
        EXPECT_FALSE(budget_set_limits(&core.budget, limits));
        EXPECT_FALSE(reservation_set_limits_now(&core.budget.reservation, limits, 1));
    }
    core.timer(1000);
    EXPECT_EQ(core.use(MANY, 1005), 100u);
}

TEST(Reservation, B1_ParametersThatMeanNothingAreRefusedByName)
{
    const auto error_of = [](auto change) {
        reservation_parameters parameters = reservation_of(100, 1000);
        change(parameters);
        return reservation_check(&parameters);
    };
    EXPECT_EQ(error_of([](auto &) {}), RESERVATION_ERROR_NONE);
    EXPECT_EQ(error_of([](auto &p) { p.kind = RESERVATION_KIND_COUNT; }), RESERVATION_ERROR_KIND);
    EXPECT_EQ(error_of([](auto &p) { p.counter_bits = 7; }), RESERVATION_ERROR_COUNTER);
    EXPECT_EQ(error_of([](auto &p) { p.counter_bits = 65; }), RESERVATION_ERROR_COUNTER);
    EXPECT_EQ(error_of([](auto &p) { p.limit_events[0] = RESERVATION_MAX_EVENTS + 1; }),
              RESERVATION_ERROR_LIMIT);
    EXPECT_EQ(error_of([](auto &p) { p.limit_events[1] = 1; }), RESERVATION_ERROR_LIMIT);
    EXPECT_EQ(error_of([](auto &p) { p.slack_events = 1; }), RESERVATION_ERROR_SLACK);
    EXPECT_EQ(error_of([](auto &p) { p.grid.length_ticks = 0; }), RESERVATION_ERROR_PERIOD);
    EXPECT_EQ(error_of([](auto &p) { p.grid.length_ticks = PERIOD_MAX_TICKS + 1; }),
              RESERVATION_ERROR_PERIOD);
    EXPECT_EQ(error_of([](auto &p) { p.grid.start_ticks = PERIOD_MAX_TICKS + 1; }), RESERVATION_ERROR_PERIOD);
}

} // namespace
} // namespace budget_test
