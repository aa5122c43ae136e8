// SPDX-License-Identifier: Apache-2.0
// Parameters of regulators (B8): which are refused, by which name, and that a change is applied as a whole,
// takes effect at the next step, and changes nothing if it is invalid.
#include "regulator_setup.h"
#include <cstring>
#include <gtest/gtest.h>

namespace regulator_parameters_test {
namespace {

struct bad_change {
    regulator_error error;
    void (*change)(regulator_parameters &);
};

const std::vector<bad_change> &bad_changes()
{
    using parameters = regulator_parameters;
    static const std::vector<bad_change> changes = {
        {REGULATOR_ERROR_POLICY, [](parameters &p) { p.policy = REGULATOR_POLICY_COUNT; }},
        {REGULATOR_ERROR_HOLD, [](parameters &p) { p.hold = REGULATOR_HOLD_COUNT; }},
        {REGULATOR_ERROR_THRESHOLD, [](parameters &p) { p.threshold = 0; }},
        {REGULATOR_ERROR_THRESHOLD, [](parameters &p) { p.threshold = UTILIZATION_MAX + 1; }},
        {REGULATOR_ERROR_TRAFFIC, [](parameters &p) { p.policy = REGULATOR_BANDWIDTH; }},
        {REGULATOR_ERROR_TRAFFIC,
         [](parameters &p) {
             p.policy = REGULATOR_BANDWIDTH;
             p.bandwidth_threshold_events = TRAFFIC_MAX_EVENTS + 1;
         }},
        {REGULATOR_ERROR_STEP, [](parameters &p) { p.step = UTILIZATION_ONE; }},
        {REGULATOR_ERROR_INTERVAL, [](parameters &p) { p.interval_ticks = 0; }},
        {REGULATOR_ERROR_INTERVAL, [](parameters &p) { p.interval_ticks = PERIOD_MAX_TICKS + 1; }},
        {REGULATOR_ERROR_CORES, [](parameters &p) { p.regulated = 0; }},
        {REGULATOR_ERROR_CORES, [](parameters &p) { p.regulated |= 1u << REGULATOR_MAX_CORES; }},
        {REGULATOR_ERROR_BUDGET, [](parameters &p) { p.budget_events[1] = REGULATOR_UNLIMITED; }},
        {REGULATOR_ERROR_BUDGET, [](parameters &p) { p.budget_events[0] = REGULATOR_MAX_EVENTS + 1; }},
        {REGULATOR_ERROR_FLOOR, [](parameters &p) { p.floor_events = 0; }},
        {REGULATOR_ERROR_FLOOR, [](parameters &p) { p.floor_events = 1001; }},
        {REGULATOR_ERROR_CEILING, [](parameters &p) { p.ceiling_events = 1999; }},
        {REGULATOR_ERROR_CEILING, [](parameters &p) { p.ceiling_events = REGULATOR_MAX_EVENTS + 1; }},
        {REGULATOR_ERROR_SATURATION,
         [](parameters &p) { p.saturation_events = 1000000; }}, // core 0 is unlimited
        {REGULATOR_ERROR_SATURATION,
         [](parameters &p) {
             p.budget_events[0] = 5000;
             p.saturation_events = 5000;
         }},
        {REGULATOR_ERROR_CEILING,
         [](parameters &p) {
             p.budget_events[0] = 5000;
             p.saturation_events = 6999; // leaves less than the initial budgets
         }},
    };
    return changes;
}

regulator started()
{
    const regulator_parameters parameters = dynamic_parameters(2, 1000);
    regulator made{};
    regulator_init(&made, &parameters);
    return made;
}

TEST(RegulatorParameters, B8_BadOnesAreRefusedByNameAndChangeNothing)
{
    for (const bad_change &bad : bad_changes()) {
        regulator reg = started();
        regulator_parameters parameters = *regulator_latest(&reg);
        bad.change(parameters);
        const regulator before = reg;
        EXPECT_EQ(regulator_check(&parameters), bad.error);
        EXPECT_EQ(regulator_change(&reg, &parameters), bad.error);
        EXPECT_EQ(std::memcmp(&reg, &before, sizeof reg), 0);
    }
}

TEST(RegulatorParameters, B8_StaticBudgetsNeedNoThreshold)
{
    regulator_parameters parameters{};
    parameters.interval_ticks = 1;
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
    parameters.budget_events[3] = REGULATOR_UNLIMITED;
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
}

TEST(RegulatorParameters, B8_AChangeTakesEffectAtTheNextStepAndKeepsG)
{
    regulator reg = started();
    regulator_sample sample = sample_of(0, 40, 2, {1, 1});
    regulator_step(&reg, &sample); // G = 2400
    regulator_parameters parameters = *regulator_latest(&reg);
    parameters.threshold = UTILIZATION_ONE / 5 * 2;
    ASSERT_EQ(regulator_change(&reg, &parameters), REGULATOR_ERROR_NONE);
    EXPECT_EQ(reg.parameters.threshold, REGULATOR_DEFAULT_THRESHOLD);
    parameters = *regulator_latest(&reg);
    parameters.step = UTILIZATION_ONE / 2; // a second change in the same interval adds to the first
    ASSERT_EQ(regulator_change(&reg, &parameters), REGULATOR_ERROR_NONE);
    sample = sample_of(1, 41, 2, {1, 1});
    regulator_step(&reg, &sample);
    EXPECT_NEAR(events_of(reg), 1200, 0.1);
    EXPECT_EQ(reg.statistics.changes, 1u);
}

TEST(RegulatorParameters, B8_OtherBudgetsOrAnotherPolicyStartAnew)
{
    regulator reg = started();
    regulator_sample sample = sample_of(0, 40, 2, {1, 1});
    regulator_step(&reg, &sample);
    regulator_parameters parameters = *regulator_latest(&reg);
    parameters.policy = REGULATOR_STATIC;
    parameters.budget_events[1] = 700;
    ASSERT_EQ(regulator_change(&reg, &parameters), REGULATOR_ERROR_NONE);
    for (uint64_t number = 1; number < 5; number++) {
        sample = sample_of(number, 40, 2, {1, 1});
        regulator_step(&reg, &sample);
        EXPECT_EQ(reg.budgets[1], 700u);
        EXPECT_EQ(reg.budgets[2], 1000u);
    }
    parameters.policy = REGULATOR_UTILIZATION;
    ASSERT_EQ(regulator_change(&reg, &parameters), REGULATOR_ERROR_NONE);
    sample = sample_of(5, 40, 0, {1, 1});
    regulator_step(&reg, &sample);
    EXPECT_EQ(reg.budgets[1], 700u);
    sample = sample_of(6, 40, 0, {1, 1}); // counts as the first sample
    regulator_step(&reg, &sample);
    EXPECT_NEAR(events_of(reg), 2040, 0.1);
}

TEST(RegulatorParameters, B8_AnotherSetOfRegulatedCoresStartsAnew)
{
    regulator reg = started();
    regulator_sample sample = sample_of(0, 40, 2, {1, 1});
    regulator_step(&reg, &sample); // G = 2400
    regulator_parameters parameters = *regulator_latest(&reg);
    parameters.regulated = 4; // from now on core 1 has its budget as a limit
    ASSERT_EQ(regulator_change(&reg, &parameters), REGULATOR_ERROR_NONE);
    sample = sample_of(1, 40, 2, {1, 1});
    regulator_step(&reg, &sample);
    EXPECT_EQ(events_of(reg), 1000);
    EXPECT_EQ(reg.budgets[1], 1000u);
    EXPECT_EQ(reg.budgets[2], 1000u);
}

TEST(RegulatorParameters, B8_ALowerCeilingHoldsAtOnce)
{
    regulator reg = started();
    regulator_parameters parameters = *regulator_latest(&reg);
    parameters.ceiling_events = 2000;
    ASSERT_EQ(regulator_change(&reg, &parameters), REGULATOR_ERROR_NONE);
    const regulator_sample sample = sample_of(0, 0, 2, {1, 1});
    regulator_step(&reg, &sample);
    EXPECT_EQ(events_of(reg), 2000);
}

} // namespace
} // namespace regulator_parameters_test
