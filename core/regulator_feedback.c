/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The feedback: G is multiplied by 1 + d or 1 - d, and is divided among the regulated cores. d is kept in
 * units of 1/131072, in which half of a difference of two loads is exact; docs/design/bandwidth.md has the
 * ranges.
 */
#include "core/regulator_feedback.h"

#define STEP_ONE (2 * (uint64_t)UTILIZATION_ONE)

/* d in units of STEP_ONE. */
static uint64_t step_of(const struct regulator_load *seen, uint32_t fixed)
{
    if (fixed != 0) {
        return 2 * (uint64_t)fixed;
    }
    return seen->load < seen->threshold ? seen->threshold - seen->load : seen->load - seen->threshold;
}

/* Computes G of the next interval. */
static void feed_back(struct regulator *regulator, const struct regulator_load *seen, uint32_t fixed,
                      bool throttled)
{
    uint64_t step = step_of(seen, fixed);
    uint64_t factor = STEP_ONE;

    if (seen->load < seen->threshold && throttled) {
        factor = STEP_ONE + step;
    } else if (seen->load >= seen->threshold || regulator->parameters.hold == REGULATOR_HOLD_DECREASE) {
        factor = STEP_ONE - step;
    }
    regulator->global = (regulator->global * factor + STEP_ONE / 2) / STEP_ONE;
}

void regulator_feed_back(struct regulator *regulator, const struct regulator_sample *sample,
                         const struct regulator_load *seen, uint32_t fixed_step)
{
    bool throttled = (sample->throttled & regulator->parameters.regulated) != 0 || !regulator->has_sample;

    if (seen->measured) {
        regulator->last_load = seen->load;
        feed_back(regulator, seen, fixed_step, throttled);
        regulator->has_sample = true;
    } else {
        regulator->statistics.unusable++;
    }
}

/* What each core counts in the division: its accesses. A core that was throttled counts half of the mean at
 * least. Cores that all spend their budgets keep the proportion of their budgets, so otherwise a core that
 * was idle once would keep its floor for as long as the others are throttled. */
static void weigh(const struct regulator_sample *sample, uint32_t regulated,
                  uint32_t weights[REGULATOR_MAX_CORES])
{
    uint64_t count = regulator_count(regulated);
    uint64_t sum = 0;
    uint32_t half;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES && regulated >> i != 0; i++) {
        sum += (regulated >> i & 1) != 0 ? sample->accesses[i] : 0;
    }
    half = count != 0 ? (uint32_t)(sum / (2 * count)) : 0;
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES && regulated >> i != 0; i++) {
        bool more = (sample->throttled >> i & 1) != 0 && sample->accesses[i] < half;

        weights[i] = more ? half : sample->accesses[i];
    }
}

void regulator_divide(struct regulator *regulator, const struct regulator_sample *sample)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint32_t weights[REGULATOR_MAX_CORES] = {0};

    regulator_keep_bounds(regulator);
    weigh(sample, parameters->regulated, weights);
    regulator_share(regulator->global >> REGULATOR_FRACTION_BITS, parameters->floor_events,
                    parameters->regulated, weights, regulator->budgets);
}

void regulator_feedback(struct regulator *regulator, const struct regulator_sample *sample,
                        const struct regulator_load *seen, uint32_t fixed_step)
{
    regulator_feed_back(regulator, sample, seen, fixed_step);
    regulator_divide(regulator, sample);
}

enum regulator_error regulator_check_feedback(const struct regulator_parameters *parameters)
{
    if ((uint32_t)parameters->hold >= REGULATOR_HOLD_COUNT) {
        return REGULATOR_ERROR_HOLD;
    }
    return parameters->step < UTILIZATION_ONE ? REGULATOR_ERROR_NONE : REGULATOR_ERROR_STEP;
}
