// SPDX-License-Identifier: Apache-2.0
// Regulators by scenario (B5, B6, B7): each branch of the formula with numbers worked out by hand, and the
// corner cases: no accesses, a silent core, bounds of G, samples that are late, repeated or empty.
#include "regulator_setup.h"
#include <cmath>
#include <gtest/gtest.h>

namespace regulator_test {
namespace {

regulator started(const regulator_parameters &parameters)
{
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
    regulator made{};
    regulator_init(&made, &parameters);
    return made;
}

bool step(regulator &regulator, const regulator_sample &sample)
{
    return regulator_step(&regulator, &sample);
}

TEST(Regulator, B5_StartsWithTheInitialBudgetsAndLetsTheRealTimeCoreAlone)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    EXPECT_EQ(reg.budgets[0], REGULATOR_UNLIMITED);
    EXPECT_EQ(reg.budgets[1], 1000u);
    step(reg, sample_of(0, 10, 2, {500, 500}));
    EXPECT_EQ(reg.budgets[0], REGULATOR_UNLIMITED);
}

TEST(Regulator, B5_BelowTheThresholdAThrottledCoreMakesGGrowByHalfTheDistance)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    step(reg, sample_of(0, 80, 0, {1, 1}));       // at the threshold: d = 0
    step(reg, sample_of(1, 40, 1u << 1, {1, 3})); // d = 0.2
    EXPECT_NEAR(events_of(reg), 2400, 0.1);
    EXPECT_NEAR(double(reg.budgets[1]), 600, 1);
    EXPECT_NEAR(double(reg.budgets[2]), 1800, 1);
}

TEST(Regulator, B5_AtOrAboveTheThresholdGShrinks)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    step(reg, sample_of(0, 100, 1u << 1, {1, 1})); // d = 0.1, whichever core was throttled
    EXPECT_NEAR(events_of(reg), 1800, 0.1);
    step(reg, sample_of(1, 90, 0, {1, 1})); // d = 0.05
    EXPECT_NEAR(events_of(reg), 1710, 0.1);
}

TEST(Regulator, B5_BelowTheThresholdWithNobodyThrottledGHoldsOrDecreasesAsAsked)
{
    regulator_parameters parameters = dynamic_parameters(2, 1000);
    regulator keeps = started(parameters);
    parameters.hold = REGULATOR_HOLD_DECREASE;
    regulator decreases = started(parameters);
    for (regulator *reg : {&keeps, &decreases}) {
        step(*reg, sample_of(0, 80, 0, {1, 1}));
        step(*reg, sample_of(1, 40, 1u << 0, {1, 1})); // the real-time core is not one of them
    }
    EXPECT_NEAR(events_of(keeps), 2000, 0.1);
    EXPECT_NEAR(events_of(decreases), 1600, 0.1);
}

TEST(Regulator, B5_TheIntervalBeforeTheFirstCountsAsThrottled)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    step(reg, sample_of(0, 40, 0, {1, 1}));
    EXPECT_NEAR(events_of(reg), 2400, 0.1);
    step(reg, sample_of(1, 40, 0, {1, 1}));
    EXPECT_NEAR(events_of(reg), 2400, 0.1);
}

TEST(Regulator, B5_AFixedStepReplacesTheAdaptiveOne)
{
    regulator_parameters parameters = dynamic_parameters(1, 1000);
    parameters.step = UTILIZATION_ONE / 4;
    regulator reg = started(parameters);
    step(reg, sample_of(0, 79, 0, {1}));
    EXPECT_NEAR(events_of(reg), 1250, 0.1);
    step(reg, sample_of(1, 81, 0, {1}));
    EXPECT_NEAR(events_of(reg), 937.5, 0.1);
}

TEST(Regulator, B5_AThresholdAboveOneIsNeverReached)
{
    regulator_parameters parameters = dynamic_parameters(1, 1000);
    parameters.threshold = UTILIZATION_ONE + UTILIZATION_ONE / 10;
    parameters.hold = REGULATOR_HOLD_KEEP;
    regulator reg = started(parameters);
    for (uint64_t number = 0; number < 100; number++) {
        step(reg, sample_of(number, 100, 0, {1}));
    }
    EXPECT_NEAR(events_of(reg), 1050, 0.1); // only the first one counts
}

TEST(Regulator, B5_SmallStepsAddUp)
{
    regulator_parameters parameters = dynamic_parameters(1, 500);
    parameters.step = 7; // about 0.0001: a twentieth of an event
    regulator reg = started(parameters);
    for (uint64_t number = 0; number < 1000; number++) {
        step(reg, sample_of(number, 10, 1u << 1, {1}));
    }
    EXPECT_NEAR(events_of(reg), 500 * std::pow(1 + 7.0 / 65536, 1000), 0.5);
}

TEST(Regulator, B5_WhenNobodyAccessedAllShareEqually)
{
    regulator reg = started(dynamic_parameters(3, 1000));
    step(reg, sample_of(0, 80, 0, {0, 0, 0}));
    for (unsigned core = 1; core <= 3; core++) {
        EXPECT_EQ(reg.budgets[core], events_of(reg) < 3000 ? 999u : 1000u);
    }
}

TEST(Regulator, B5_AThrottledCoreLeavesTheFloorAlsoWhileTheOthersUseAll)
{
    regulator_parameters parameters = dynamic_parameters(2, 1000);
    parameters.threshold = UTILIZATION_ONE / 2;
    regulator reg = started(parameters);
    step(reg, sample_of(0, 50, 0, {0, 1990})); // G stays at 2000
    EXPECT_EQ(reg.budgets[1], parameters.floor_events);
    // Both have used all that they had. The first counts half of the mean, 500 of 2490.
    step(reg, sample_of(1, 50, 3u << 1, {10, 1990}));
    EXPECT_EQ(reg.budgets[1], 2000u * 500 / 2490);
    EXPECT_EQ(reg.budgets[2], 2000u * 1990 / 2490);
    for (uint64_t number = 2; number < 20; number++) {
        step(reg, sample_of(number, 50, 3u << 1,
                            {static_cast<uint32_t>(reg.budgets[1]), static_cast<uint32_t>(reg.budgets[2])}));
    }
    EXPECT_NEAR(double(reg.budgets[1]), double(reg.budgets[2]) / 3, 2);
}

TEST(Regulator, B5_ASilentCoreKeepsTheFloorAndTheOthersShareTheRest)
{
    regulator_parameters parameters = dynamic_parameters(3, 1000);
    parameters.floor_events = 100;
    parameters.threshold = UTILIZATION_ONE / 2;
    regulator reg = started(parameters);
    step(reg, sample_of(0, 50, 0, {0, 600, 200})); // G stays at 3000
    EXPECT_EQ(reg.budgets[1], 100u);
    EXPECT_EQ(reg.budgets[2], 2175u);
    EXPECT_EQ(reg.budgets[3], 725u);
    // The part that the floor takes brings the next core below it, too: 3000 * 10 / 301 = 99.7.
    step(reg, sample_of(1, 50, 0, {0, 10, 291}));
    EXPECT_EQ(reg.budgets[1], 100u);
    EXPECT_EQ(reg.budgets[2], 100u);
    EXPECT_EQ(reg.budgets[3], 2800u);
}

TEST(Regulator, B5_GStaysBetweenTheFloorsAndTheCeiling)
{
    regulator_parameters parameters = dynamic_parameters(2, 1000);
    parameters.ceiling_events = 5000;
    parameters.floor_events = 50;
    regulator reg = started(parameters);
    uint64_t number = 0;
    for (int i = 0; i < 100; i++) {
        step(reg, sample_of(number++, 0, 2, {1, 1}));
    }
    EXPECT_EQ(events_of(reg), 5000);
    EXPECT_EQ(sum_of_regulated(reg), 5000u);
    for (int i = 0; i < 100; i++) {
        step(reg, sample_of(number++, 100, 2, {1, 0}));
    }
    EXPECT_EQ(events_of(reg), 100);
    EXPECT_EQ(reg.budgets[1], 50u);
    EXPECT_EQ(reg.budgets[2], 50u);
    step(reg, sample_of(number++, 0, 2, {1, 0})); // and rises again
    EXPECT_GT(events_of(reg), 130);
}

TEST(Regulator, B5_ARepeatedOrOlderSampleChangesNothing)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    EXPECT_TRUE(step(reg, sample_of(7, 40, 2, {1, 1})));
    const regulator before = reg;
    EXPECT_FALSE(step(reg, sample_of(7, 40, 2, {5, 1})));
    EXPECT_FALSE(step(reg, sample_of(6, 100, 2, {5, 1})));
    EXPECT_EQ(reg.global, before.global);
    EXPECT_EQ(reg.budgets[1], before.budgets[1]);
    EXPECT_EQ(reg.statistics.repeated, 2u);
    EXPECT_EQ(reg.statistics.samples, 1u);
}

TEST(Regulator, B5_ALateSampleStandsForAllThatItCovers)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    step(reg, sample_of(1, 80, 0, {1, 1}));
    step(reg, sample_of(5, 40, 2, {1, 1}));
    EXPECT_NEAR(events_of(reg), 2400, 0.1); // one step
    EXPECT_EQ(reg.statistics.missed, 3u);
}

TEST(Regulator, B5_ASampleThatSaysNothingOfTheLoadChangesSharesOnly)
{
    regulator reg = started(dynamic_parameters(2, 1000));
    step(reg, sample_of(0, 80, 0, {1, 1}));
    const uint64_t before = reg.global;
    regulator_sample empty = sample_of(1, 0, 2, {3, 1});
    empty.has_utilization = false;
    step(reg, empty);
    EXPECT_EQ(reg.global, before);
    EXPECT_EQ(reg.statistics.unusable, 1u);
    EXPECT_NEAR(double(reg.budgets[1]), 1500, 1);
}

TEST(Regulator, B6_TrafficAgainstAThresholdWithAFixedStep)
{
    regulator_parameters parameters = dynamic_parameters(1, 1000);
    parameters.policy = REGULATOR_BANDWIDTH;
    parameters.bandwidth_threshold_events = 2000;
    regulator reg = started(parameters);
    regulator_sample sample = sample_of(0, 0, 2, {1});
    sample.traffic_events = 1999;
    sample.elapsed_ticks = 1000;
    step(reg, sample);
    EXPECT_NEAR(events_of(reg), 1050, 0.1);
    sample.number = 1;
    sample.traffic_events = 2000;
    step(reg, sample);
    EXPECT_NEAR(events_of(reg), 997.5, 0.1);
    sample.number = 2; // twice the traffic in twice the time: below
    sample.traffic_events = 3999;
    sample.elapsed_ticks = 2000;
    step(reg, sample);
    EXPECT_NEAR(events_of(reg), 1047.4, 0.1);
    sample.number = 3;
    sample.elapsed_ticks = 0;
    step(reg, sample);
    EXPECT_EQ(reg.statistics.unusable, 1u);
}

TEST(Regulator, B7_LimitsOfSeveralRealTimeCoresLeaveTheCeilingForTheOthers)
{
    regulator_parameters parameters = dynamic_parameters(3, 1000);
    parameters.regulated &= ~2u; // core 1 is a real-time core with a limit of 1000, core 0 has 4000
    parameters.budget_events[0] = 4000;
    parameters.saturation_events = 10000;
    regulator reg = started(parameters);
    EXPECT_EQ(regulator_ceiling(&parameters), 5000u);
    for (uint64_t number = 0; number < 50; number++) {
        step(reg, sample_of(number, 0, 4, {9, 1, 1}));
        ASSERT_LE(sum_of_regulated(reg) + reg.budgets[0] + reg.budgets[1], 10000u);
    }
    EXPECT_EQ(sum_of_regulated(reg), 5000u);
    EXPECT_EQ(reg.budgets[0], 4000u);
    EXPECT_EQ(reg.budgets[1], 1000u);
}

TEST(Utilization, B5_IsTheFractionOfCyclesThatWereBusyAcrossWraps)
{
    utilization_meter meter{{32, 0}, {32, 0}, false};
    uint32_t u = 77;
    EXPECT_FALSE(utilization_measure(&meter, 0xFFFFFF00, 0xFFFFFE00, &u)); // there is no interval yet
    EXPECT_TRUE(utilization_measure(&meter, 0x200, 0x200, &u));            // 0x300 of 0x400
    EXPECT_EQ(u, UTILIZATION_ONE / 4 * 3);
    EXPECT_FALSE(utilization_measure(&meter, 0x200, 0x200, &u));
    EXPECT_EQ(u, UTILIZATION_ONE / 4 * 3);
    EXPECT_TRUE(utilization_measure(&meter, 0x210, 0x20F, &u)); // read one after the other
    EXPECT_EQ(u, UTILIZATION_ONE);
}

TEST(Utilization, B5_FractionsOfAnySize)
{
    EXPECT_EQ(utilization_fraction(1, 3), 21845u);
    EXPECT_EQ(utilization_fraction(2, 3), 43691u);
    EXPECT_EQ(utilization_fraction(0, 0), UTILIZATION_MAX);
    EXPECT_EQ(utilization_fraction(5, 2), UTILIZATION_MAX);
    EXPECT_EQ(utilization_fraction(UINT64_MAX / 4, UINT64_MAX), UTILIZATION_ONE / 4);
    EXPECT_EQ(utilization_fraction(UINT64_MAX, UINT64_MAX), UTILIZATION_ONE);
    uint32_t fraction = 0;
    EXPECT_TRUE(utilization_of_traffic(UINT64_MAX, uint64_t{1} << 60, TRAFFIC_MAX_EVENTS, uint64_t{1} << 60,
                                       &fraction));
    EXPECT_EQ(fraction, UTILIZATION_ONE);
}

} // namespace
} // namespace regulator_test
