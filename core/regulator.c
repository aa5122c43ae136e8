/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The feedback: G grows or shrinks by a factor of 1 +- d, and is divided among the regulated cores. d is kept
 * in 1/131072, in which half of a difference of two loads is exact; docs/bandwidth.md has the ranges.
 */
#include "core/regulator.h"

#define STEP_ONE (2 * (uint64_t)UTILIZATION_ONE)

static uint64_t to_global(uint64_t events)
{
    return events << REGULATOR_FRACTION_BITS;
}

static void use_initial_budgets(struct regulator *regulator)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        regulator->budgets[i] = parameters->budget_events[i];
        if (((parameters->regulated >> i) & 1u) != 0) {
            sum += parameters->budget_events[i];
        }
    }
    regulator->global = to_global(sum);
    regulator->has_sample = false;
}

void regulator_init(struct regulator *regulator, const struct regulator_parameters *parameters)
{
    *regulator = (struct regulator){.parameters = *parameters};
    use_initial_budgets(regulator);
}

enum regulator_error regulator_change(struct regulator *regulator,
                                      const struct regulator_parameters *parameters)
{
    enum regulator_error error = regulator_check(parameters);

    if (error == REGULATOR_ERROR_NONE) {
        regulator->staged = *parameters;
        regulator->has_staged = true;
    }
    return error;
}

const struct regulator_parameters *regulator_latest(const struct regulator *regulator)
{
    return regulator->has_staged ? &regulator->staged : &regulator->parameters;
}

static bool starts_anew(const struct regulator_parameters *before, const struct regulator_parameters *now)
{
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (before->budget_events[i] != now->budget_events[i]) {
            return true;
        }
    }
    return before->policy != now->policy || before->regulated != now->regulated;
}

/* Puts staged parameters in force. True if that has set the budgets, too. */
static bool take_staged(struct regulator *regulator)
{
    bool anew;

    if (!regulator->has_staged) {
        return false;
    }
    anew = starts_anew(&regulator->parameters, &regulator->staged);
    regulator->parameters = regulator->staged;
    regulator->has_staged = false;
    regulator->statistics.changes++;
    if (anew) {
        use_initial_budgets(regulator);
    }
    return anew;
}

/* The sample's load and what it is compared with. False if the sample does not say. */
static bool find_load(const struct regulator_parameters *parameters, const struct regulator_sample *sample,
                      uint32_t *load, uint32_t *threshold)
{
    if (parameters->policy == REGULATOR_UTILIZATION) {
        *load = sample->utilization < UTILIZATION_MAX ? sample->utilization : UTILIZATION_MAX;
        *threshold = parameters->threshold;
        return sample->has_utilization;
    }
    *threshold = UTILIZATION_ONE;
    return utilization_of_traffic(sample->traffic_events, sample->elapsed_ticks,
                                  parameters->bandwidth_threshold_events, parameters->interval_ticks, load);
}

/* d in units of STEP_ONE. */
static uint64_t step_of(const struct regulator_parameters *parameters, uint32_t load, uint32_t threshold)
{
    uint32_t fixed = parameters->step;

    if (fixed == 0 && parameters->policy == REGULATOR_BANDWIDTH) {
        fixed = REGULATOR_BANDWIDTH_STEP;
    }
    if (fixed != 0) {
        return 2 * (uint64_t)fixed;
    }
    return load < threshold ? threshold - load : load - threshold;
}

static uint64_t within(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* G of the next interval. */
static void feed_back(struct regulator *regulator, uint32_t load, uint32_t threshold, bool throttled)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint64_t step = step_of(parameters, load, threshold);
    uint64_t factor = STEP_ONE;

    if (load < threshold && throttled) {
        factor = STEP_ONE + step;
    } else if (load >= threshold || parameters->hold == REGULATOR_HOLD_DECREASE) {
        factor = STEP_ONE - step;
    }
    regulator->global = (regulator->global * factor + STEP_ONE / 2) / STEP_ONE;
}

static void keep_bounds(struct regulator *regulator)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint64_t lowest = parameters->floor_events * regulator_count(parameters->regulated);

    regulator->global =
        within(regulator->global, to_global(lowest), to_global(regulator_ceiling(parameters)));
}

static void regulate(struct regulator *regulator, const struct regulator_sample *sample)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    bool throttled = (sample->throttled & parameters->regulated) != 0 || !regulator->has_sample;
    uint32_t load = 0;
    uint32_t threshold = 0;

    if (find_load(parameters, sample, &load, &threshold)) {
        regulator->last_load = load;
        feed_back(regulator, load, threshold, throttled);
        regulator->has_sample = true;
    } else {
        regulator->statistics.unusable++;
    }
    keep_bounds(regulator);
    regulator_share(regulator->global >> REGULATOR_FRACTION_BITS, parameters->floor_events,
                    parameters->regulated, sample->accesses, regulator->budgets);
}

bool regulator_step(struct regulator *regulator, const struct regulator_sample *sample)
{
    if (regulator->has_number) {
        if (sample->number <= regulator->number) {
            regulator->statistics.repeated++;
            return false;
        }
        regulator->statistics.missed += sample->number - regulator->number - 1;
    }
    regulator->has_number = true;
    regulator->number = sample->number;
    regulator->statistics.samples++;
    if (!take_staged(regulator) && regulator->parameters.policy != REGULATOR_STATIC) {
        regulate(regulator, sample);
    }
    return true;
}
