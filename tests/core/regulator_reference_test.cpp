// SPDX-License-Identifier: Apache-2.0
// The fixed-point regulator compared with the formulas of B5 and B6 in floating point, and its bounds, over
// random samples and parameters.
#include "regulator_setup.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace regulator_reference_test {
namespace {

// The requirement's formula. It starts from each G of the regulator, so that the error is that of one step.
double next_g(const regulator_parameters &parameters, double g, double u, bool throttled)
{
    const bool bandwidth = parameters.policy == REGULATOR_BANDWIDTH;
    const double u_t = bandwidth ? 1.0 : parameters.threshold / 65536.0;
    double d = std::abs(u_t - u) / 2;
    if (parameters.step != 0) {
        d = parameters.step / 65536.0;
    } else if (bandwidth) {
        d = 0.05;
    }
    if (u < u_t && throttled) {
        g *= 1 + d;
    } else if (u >= u_t || parameters.hold == REGULATOR_HOLD_DECREASE) {
        g *= 1 - d;
    }
    const double lowest = double(parameters.floor_events) * regulator_count(parameters.regulated);
    return std::clamp(g, lowest, double(regulator_ceiling(&parameters)));
}

regulator_parameters any_parameters(std::mt19937_64 &random)
{
    const auto magnitude = uint64_t{1} << random() % 24;
    regulator_parameters parameters = dynamic_parameters(1 + unsigned(random() % 7), 16 + magnitude);
    parameters.policy = random() % 3 == 0 ? REGULATOR_BANDWIDTH : REGULATOR_UTILIZATION;
    parameters.hold = static_cast<regulator_hold>(random() % REGULATOR_HOLD_COUNT);
    parameters.threshold = 1 + uint32_t(random() % UTILIZATION_MAX);
    parameters.step = random() % 2 == 0 ? 0 : uint32_t(random() % UTILIZATION_ONE);
    parameters.bandwidth_threshold_events = 1 + random() % (magnitude * 10);
    parameters.floor_events = 1 + random() % 16;
    parameters.ceiling_events =
        random() % 4 == 0 ? REGULATOR_MAX_EVENTS : 8 * (16 + magnitude) + random() % 100000;
    return parameters;
}

regulator_sample any_sample(std::mt19937_64 &random, uint64_t number, const regulator_parameters &parameters)
{
    regulator_sample sample = sample_of(number, 0, uint32_t(random() % 256), {});
    sample.utilization = uint32_t(random() % (UTILIZATION_ONE + 1));
    sample.elapsed_ticks = 1 + random() % (3 * parameters.interval_ticks);
    sample.traffic_events = random() % (2 * parameters.bandwidth_threshold_events);
    for (uint32_t &accesses : sample.accesses) {
        accesses = random() % 4 == 0 ? 0 : uint32_t(random()) >> random() % 32;
    }
    return sample;
}

void check_budgets(const regulator &regulator, const regulator_sample &sample)
{
    const uint64_t g = regulator.global >> REGULATOR_FRACTION_BITS;
    const uint32_t cores = regulator.parameters.regulated;
    const uint64_t sum = sum_of_regulated(regulator);
    double accesses = 0;
    uint64_t all = 0;
    bool floors = false;
    ASSERT_LE(sum, g);
    ASSERT_GT(sum + regulator_count(cores), g); // only rounding is lost
    for (unsigned i = 0; i < REGULATOR_MAX_CORES; i++) {
        if ((cores >> i & 1) != 0) {
            ASSERT_GE(regulator.budgets[i], regulator.parameters.floor_events);
            floors |= regulator.budgets[i] == regulator.parameters.floor_events;
            all += sample.accesses[i];
        }
    }
    // What a core counts: a throttled one half of the mean at least.
    const auto half = double(all / (2 * regulator_count(cores)));
    double weights[REGULATOR_MAX_CORES]{};
    for (unsigned i = 0; i < REGULATOR_MAX_CORES; i++) {
        const bool throttled = (sample.throttled >> i & 1) != 0;
        weights[i] = std::max(double(sample.accesses[i]), throttled ? half : 0.0);
        accesses += (cores >> i & 1) != 0 ? weights[i] : 0;
    }
    for (unsigned i = 0; i < REGULATOR_MAX_CORES && !floors && accesses > 0; i++) {
        if ((cores >> i & 1) != 0) {
            ASSERT_NEAR(double(regulator.budgets[i]), double(g) * weights[i] / accesses, 1.0 + 1e-6);
        }
    }
}

TEST(RegulatorReference, B5_B6_EveryStepIsTheFormulasAndBudgetsSumUpToG)
{
    std::mt19937_64 random(5);
    for (int run = 0; run < 500; run++) {
        const regulator_parameters parameters = any_parameters(random);
        ASSERT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
        regulator regulator{};
        regulator_init(&regulator, &parameters);
        for (uint64_t number = 0; number < 100; number++) {
            const regulator_sample sample = any_sample(random, number, parameters);
            const double before = events_of(regulator);
            const bool throttled = number == 0 || (sample.throttled & parameters.regulated) != 0;
            double u = sample.utilization / 65536.0;
            if (parameters.policy == REGULATOR_BANDWIDTH) {
                u = double(sample.traffic_events) * double(parameters.interval_ticks) /
                    (double(parameters.bandwidth_threshold_events) * double(sample.elapsed_ticks));
                u = std::min(u, 2.0);
                if (std::abs(u - 1) < 1.0 / 65536) {
                    continue; // the fraction's last bit decides
                }
            }
            ASSERT_TRUE(regulator_step(&regulator, &sample));
            const bool rounded = parameters.policy == REGULATOR_BANDWIDTH; // of U or the step to 1/65536
            const double error = 1.0 / 131072 + (rounded ? before / 65536 : before * 1e-12);
            ASSERT_NEAR(events_of(regulator), next_g(parameters, before, u, throttled), error)
                << "run " << run << ", interval " << number;
            check_budgets(regulator, sample);
            if (HasFatalFailure()) {
                FAIL() << "run " << run << ", interval " << number;
            }
        }
    }
}

TEST(RegulatorReference, B5_AFeedbackLoopSettlesAtTheThreshold)
{
    // A memory that is busy in proportion to what all cores move: 30 % by the real-time core, and all the
    // time by 10000 events of the others.
    regulator_parameters parameters = dynamic_parameters(3, 100);
    regulator regulator{};
    regulator_init(&regulator, &parameters);
    double u = 0;
    for (uint64_t number = 0; number < 200; number++) {
        u = std::min(1.0, 0.3 + double(sum_of_regulated(regulator)) / 10000);
        const regulator_sample sample = sample_of(number, 100 * u, 2, {3000, 2000, 1000});
        regulator_step(&regulator, &sample);
    }
    EXPECT_NEAR(u, 0.8, 0.005);
    EXPECT_NEAR(double(regulator.budgets[1]), 2 * double(regulator.budgets[3]) * 1.5, 10);
}

TEST(RegulatorReference, B5_TheLargestNumbersDoNotOverflow)
{
    regulator_parameters parameters = dynamic_parameters(7, REGULATOR_MAX_EVENTS / 7);
    parameters.ceiling_events = REGULATOR_MAX_EVENTS;
    parameters.threshold = UTILIZATION_MAX;
    regulator regulator{};
    regulator_init(&regulator, &parameters);
    regulator_sample sample = sample_of(0, 0, 2, {});
    std::fill(std::begin(sample.accesses), std::end(sample.accesses), UINT32_MAX);
    ASSERT_TRUE(regulator_step(&regulator, &sample)); // twice as much, by d = 1
    EXPECT_EQ(events_of(regulator), double(REGULATOR_MAX_EVENTS));
    check_budgets(regulator, sample);
}

} // namespace
} // namespace regulator_reference_test
