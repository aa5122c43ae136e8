// SPDX-License-Identifier: Apache-2.0
// Properties of every policy of a regulator (B5, B11), including future ones: names, and budgets within floor
// and ceiling for any parameters that the policy accepts and any samples.
#include "core/regulator_policy.h"
#include "regulator_setup.h"
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>

namespace regulator_policy_test {
namespace {

regulator_parameters random_parameters(std::mt19937_64 &random, uint32_t policy)
{
    regulator_parameters parameters = dynamic_parameters(1 + random() % 4, 100 + random() % 1000);
    parameters.policy = policy;
    parameters.threshold = 1 + static_cast<uint32_t>(random() % (UTILIZATION_ONE - 1));
    parameters.bandwidth_threshold_events = 1 + random() % 100000;
    parameters.horizon_intervals = 1 + static_cast<uint32_t>(random() % REGULATOR_MAX_HORIZON);
    parameters.floor_events = 1 + random() % 100;
    parameters.ceiling_events = 5000 + random() % 100000;
    for (uint32_t &delay : parameters.event_delays) {
        delay = static_cast<uint32_t>(random() >> (32 + random() % 32)) | 1;
    }
    return parameters;
}

regulator_sample random_sample(std::mt19937_64 &random, uint64_t number)
{
    regulator_sample sample{};
    sample.number = number;
    sample.has_utilization = random() % 8 != 0;
    sample.utilization = static_cast<uint32_t>(random() % (UTILIZATION_MAX + 2));
    sample.traffic_events = random() >> random() % 64;
    sample.elapsed_ticks = random() % 3000;
    sample.throttled = static_cast<uint32_t>(random() % 256);
    for (uint32_t &accesses : sample.accesses) {
        accesses = static_cast<uint32_t>(random() >> (32 + random() % 32));
    }
    return sample;
}

TEST(RegulatorPolicy, B11_EachHasANameOfItsOwnAndThereIsNoneBehindTheLast)
{
    std::set<std::string> names;
    for (uint32_t number = 0; number < REGULATOR_POLICY_COUNT; number++) {
        ASSERT_NE(regulator_policy_at(number), nullptr);
        names.insert(regulator_policy_at(number)->name);
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(REGULATOR_POLICY_COUNT));
    EXPECT_EQ(regulator_policy_at(REGULATOR_POLICY_COUNT), nullptr);
}

TEST(RegulatorPolicy, B5_BudgetsOfEachPolicyAreWithinFloorAndCeilingWhateverItSees)
{
    std::mt19937_64 random(11);
    for (uint32_t policy = 0; policy < REGULATOR_POLICY_COUNT; policy++) {
        for (int run = 0; run < 300; run++) {
            const regulator_parameters parameters = random_parameters(random, policy);
            ASSERT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
            regulator reg{};
            regulator_init(&reg, &parameters);
            for (uint64_t number = 0; number < 100; number++) {
                const regulator_sample sample = random_sample(random, number);
                regulator_step(&reg, &sample);
                EXPECT_LE(sum_of_regulated(reg), regulator_ceiling(&parameters));
                EXPECT_EQ(reg.budgets[0], REGULATOR_UNLIMITED);
                for (unsigned core = 1; core < REGULATOR_MAX_CORES; core++) {
                    if (((parameters.regulated >> core) & 1) != 0) {
                        EXPECT_GE(reg.budgets[core], parameters.floor_events);
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace regulator_policy_test
