// SPDX-License-Identifier: Apache-2.0
// Parameters and samples for the tests of regulators: core 0 is a real-time core without a limit, cores 1 to
// q are regulated.
#pragma once

#include "core/regulator.h"
#include <initializer_list>

inline regulator_parameters dynamic_parameters(unsigned regulated, uint64_t initial = 1000)
{
    regulator_parameters parameters{};
    parameters.policy = REGULATOR_UTILIZATION;
    parameters.threshold = REGULATOR_DEFAULT_THRESHOLD;
    parameters.interval_ticks = 1000;
    parameters.floor_events = 10;
    parameters.ceiling_events = 1000000;
    parameters.budget_events[0] = REGULATOR_UNLIMITED;
    for (unsigned i = 1; i <= regulated; i++) {
        parameters.regulated |= 1u << i;
        parameters.budget_events[i] = initial;
    }
    return parameters;
}

// A sample of interval `number`, with utilization in per cent; accesses of cores 1, 2, ...
inline regulator_sample sample_of(uint64_t number, double utilization, uint32_t throttled,
                                  std::initializer_list<uint32_t> accesses)
{
    regulator_sample sample{};
    sample.number = number;
    sample.has_utilization = true;
    sample.utilization = static_cast<uint32_t>(utilization / 100 * UTILIZATION_ONE + 0.5);
    sample.throttled = throttled;
    unsigned core = 1;
    for (const uint32_t count : accesses) {
        sample.accesses[core++] = count;
    }
    return sample;
}

inline double events_of(const regulator &regulator)
{
    return static_cast<double>(regulator.global) / (1u << REGULATOR_FRACTION_BITS);
}

inline uint64_t sum_of_regulated(const regulator &regulator)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < REGULATOR_MAX_CORES; i++) {
        sum += ((regulator.parameters.regulated >> i) & 1) != 0 ? regulator.budgets[i] : 0;
    }
    return sum;
}
