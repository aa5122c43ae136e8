// SPDX-License-Identifier: Apache-2.0
// `dynamic-phases` (B11): each phase of the other cores keeps a G of its own, which is in force in the second
// interval of the phase, however long ago the phase was.
#include "core/regulator_policy.h"
#include "regulator_setup.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace regulator_phases_test {
namespace {

constexpr uint64_t scale = 25600; // B_T: the lowest phase is below 100 events of the others
constexpr uint32_t reading = 13000;
constexpr uint32_t computing = 99;
constexpr uint64_t ceiling = 200000;

regulator_parameters phase_parameters()
{
    regulator_parameters parameters = dynamic_parameters(2, 1000);
    parameters.policy = REGULATOR_PHASES;
    parameters.bandwidth_threshold_events = scale;
    parameters.ceiling_events = ceiling;
    return parameters;
}

// One regulated core that uses all of its budget, beside others that move `others` events: the memory is busy
// for its share of `full` events.
class world {
public:
    explicit world(const regulator_parameters &parameters)
    {
        EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
        regulator_init(&regulator_, &parameters);
    }

    void interval(uint32_t others)
    {
        constexpr double full = 40000;
        const auto moved = static_cast<uint32_t>(std::min<double>(budget(), full - others));
        const double busy = std::min(100.0, 100 * (moved + others) / full);
        regulator_sample sample = sample_of(number_++, busy, moved < budget() ? 0 : 2, {moved});
        sample.traffic_events = uint64_t{moved} + others;
        regulator_step(&regulator_, &sample);
    }

    void intervals(unsigned count, uint32_t others)
    {
        for (unsigned i = 0; i < count; i++) {
            interval(others);
        }
    }

    [[nodiscard]] double budget() const { return static_cast<double>(sum_of_regulated(regulator_)); }
    [[nodiscard]] const regulator &state() const { return regulator_; }

private:
    regulator regulator_{};
    uint64_t number_ = 0;
};

TEST(RegulatorPhases, B11_CoresShareTheCeilingWhileTheOthersMoveNextToNothing)
{
    world made(phase_parameters());
    made.interval(computing);
    EXPECT_GE(made.budget(), ceiling - 2);
    EXPECT_EQ(regulator_carried(&made.state()), 0);
    made.interval(computing + 1); // the next phase begins at 1/256 of B_T, with the budgets of the start
    EXPECT_NEAR(made.budget(), 2000, 2);
    EXPECT_EQ(regulator_carried(&made.state()), 1);
}

TEST(RegulatorPhases, B11_TheFeedbackFindsTheThresholdInAPhase)
{
    world made(phase_parameters());
    made.intervals(200, reading);
    EXPECT_NEAR(made.budget() + reading, 0.8 * 40000, 400);
}

TEST(RegulatorPhases, B11_WhatWasFoundForAPhaseIsInForceInItsSecondInterval)
{
    world made(phase_parameters());
    made.intervals(200, reading);
    const double found = made.budget();
    made.intervals(50, computing);
    EXPECT_GE(made.budget(), ceiling - 2);
    made.interval(reading); // unforeseen: its budget was that of the phase before
    EXPECT_DOUBLE_EQ(made.budget(), found);

    regulator_parameters parameters = phase_parameters();
    parameters.policy = REGULATOR_UTILIZATION; // without a memory G is still higher three intervals later
    world without(parameters);
    without.intervals(200, reading);
    without.intervals(50, computing);
    without.intervals(3, reading);
    EXPECT_GT(without.budget(), 1.1 * found);
}

TEST(RegulatorPhases, B11_PhasesFarApartKeepBudgetsOfTheirOwn)
{
    world made(phase_parameters());
    made.intervals(200, reading);
    const double high = made.budget();
    made.intervals(200, reading / 8);
    const double low = made.budget();
    EXPECT_GT(low, high + reading / 2.0);
    for (unsigned i = 0; i < 20; i++) { // by turns, each interval is of another phase than the one before
        made.interval(reading);
        EXPECT_DOUBLE_EQ(made.budget(), high);
        made.interval(reading / 8);
        EXPECT_DOUBLE_EQ(made.budget(), low);
    }
}

TEST(RegulatorPhases, B11_InitialBudgetsOfAChangeBeginEveryPhaseAnew)
{
    world made(phase_parameters());
    made.intervals(200, reading);
    regulator_parameters parameters = phase_parameters();
    parameters.budget_events[1] = 500;
    regulator changed = made.state();
    ASSERT_EQ(regulator_change(&changed, &parameters), REGULATOR_ERROR_NONE);
    const regulator_sample sample = sample_of(1000, 50, 0, {1});
    regulator_step(&changed, &sample);
    for (const uint64_t global : changed.phase_global) {
        EXPECT_EQ(global >> REGULATOR_FRACTION_BITS, 1500u);
    }
}

TEST(RegulatorPhases, B11_AnotherScaleOrIntervalBeginsEveryPhaseAnew)
{
    regulator_parameters wider = phase_parameters();
    wider.bandwidth_threshold_events = 8 * scale;
    regulator_parameters shorter = phase_parameters();
    shorter.interval_ticks = 100;
    for (const regulator_parameters &parameters : {wider, shorter}) {
        world made(phase_parameters());
        made.intervals(200, reading);
        regulator changed = made.state();
        ASSERT_EQ(regulator_change(&changed, &parameters), REGULATOR_ERROR_NONE);
        const regulator_sample sample = sample_of(1000, 50, 0, {1});
        regulator_step(&changed, &sample);
        EXPECT_EQ(sum_of_regulated(changed), 2000u);
        for (const uint64_t global : changed.phase_global) {
            EXPECT_EQ(global >> REGULATOR_FRACTION_BITS, 2000u);
        }
    }
}

TEST(RegulatorPhases, B11_ParametersAreThoseOfDynamicAndAScale)
{
    regulator_parameters parameters = phase_parameters();
    parameters.bandwidth_threshold_events = 0;
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_TRAFFIC);
    parameters = phase_parameters();
    parameters.threshold = 0;
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_THRESHOLD);
    parameters = phase_parameters();
    parameters.hold = REGULATOR_HOLD_COUNT;
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_HOLD);
}

} // namespace
} // namespace regulator_phases_test
