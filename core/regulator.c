/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The part that all policies share: staged parameters, samples that arrive twice or not at all, and the
 * initial budgets.
 */
#include "core/regulator_policy.h"
#include <stddef.h>

#define MOST_OTHERS (1ull << 30)

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
    regulator->global = sum << REGULATOR_FRACTION_BITS;
    regulator->account = 0;
    regulator->phase = 0;
    for (uint32_t i = 0; i < REGULATOR_PHASE_COUNT; i++) {
        regulator->phase_global[i] = regulator->global;
    }
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

static bool needs_initial_budgets(const struct regulator_parameters *before,
                                  const struct regulator_parameters *now)
{
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (before->budget_events[i] != now->budget_events[i]) {
            return true;
        }
    }
    /* What was found for a phase is a number of events of an interval, of a part of B_T. */
    if (now->policy == REGULATOR_PHASES &&
        (before->interval_ticks != now->interval_ticks ||
         before->bandwidth_threshold_events != now->bandwidth_threshold_events)) {
        return true;
    }
    return before->policy != now->policy || before->regulated != now->regulated;
}

/* Puts staged parameters in force. Returns whether that has also set the budgets. */
static bool take_staged(struct regulator *regulator)
{
    bool anew;

    if (!regulator->has_staged) {
        return false;
    }
    anew = needs_initial_budgets(&regulator->parameters, &regulator->staged);
    regulator->parameters = regulator->staged;
    regulator->has_staged = false;
    regulator->statistics.changes++;
    if (anew) {
        use_initial_budgets(regulator);
    }
    return anew;
}

bool regulator_step(struct regulator *regulator, const struct regulator_sample *sample)
{
    const struct regulator_policy *policy;

    if (regulator->has_number) {
        if (sample->number <= regulator->number) {
            regulator->statistics.repeated++;
            return false;
        }
        regulator->gap = sample->number - regulator->number - 1;
        regulator->statistics.missed += regulator->gap;
    }
    regulator->has_number = true;
    regulator->number = sample->number;
    regulator->statistics.samples++;
    if (!take_staged(regulator)) {
        policy = regulator_policy_at(regulator->parameters.policy);
        if (policy != NULL && policy->step != NULL) {
            policy->step(regulator, sample);
        }
    }
    return true;
}

uint64_t regulator_events_of_others(const struct regulator_parameters *parameters,
                                    const struct regulator_sample *sample)
{
    uint64_t others = sample->traffic_events;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (((parameters->regulated >> i) & 1u) != 0) {
            others -= sample->accesses[i] < others ? sample->accesses[i] : others;
        }
    }
    return others < MOST_OTHERS ? others : MOST_OTHERS;
}
