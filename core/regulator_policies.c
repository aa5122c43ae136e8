/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * All policies, by number.
 */
#include "core/regulator_policy.h"
#include <stddef.h>

static const struct regulator_policy fixed = {"static", NULL};

static const struct regulator_policy *const policies[REGULATOR_POLICY_COUNT] = {
    [REGULATOR_STATIC] = &fixed,
    [REGULATOR_UTILIZATION] = &regulator_utilization,
    [REGULATOR_BANDWIDTH] = &regulator_bandwidth,
    [REGULATOR_DELAY] = &regulator_delay,
    [REGULATOR_TURNS] = &regulator_turns,
    [REGULATOR_PHASES] = &regulator_phases,
};

const struct regulator_policy *regulator_policy_at(uint32_t number)
{
    return number < REGULATOR_POLICY_COUNT ? policies[number] : NULL;
}

uint32_t regulator_load_of(uint32_t number)
{
    switch (number) {
    case REGULATOR_UTILIZATION:
        return REGULATOR_LOAD_UTILIZATION;
    case REGULATOR_PHASES:
        return REGULATOR_LOAD_UTILIZATION | REGULATOR_LOAD_TRAFFIC;
    case REGULATOR_BANDWIDTH:
    case REGULATOR_DELAY:
        return REGULATOR_LOAD_TRAFFIC;
    default:
        return REGULATOR_LOAD_NONE;
    }
}

int32_t regulator_carried(const struct regulator *regulator)
{
    switch (regulator->parameters.policy) {
    case REGULATOR_DELAY:
        /* At most REGULATOR_MAX_HORIZON intervals, so it fits. */
        return (int32_t)(regulator->account * REGULATOR_CARRIED_ONE / UTILIZATION_ONE);
    case REGULATOR_PHASES:
        return (int32_t)regulator->phase;
    default:
        return 0;
    }
}

enum regulator_error regulator_check_policy(const struct regulator_parameters *parameters)
{
    switch (parameters->policy) {
    case REGULATOR_UTILIZATION:
        return regulator_check_utilization(parameters);
    case REGULATOR_BANDWIDTH:
        return regulator_check_bandwidth(parameters);
    case REGULATOR_DELAY:
        return regulator_check_delay(parameters);
    case REGULATOR_TURNS:
        return regulator_check_turns(parameters);
    case REGULATOR_PHASES:
        return regulator_check_phases(parameters);
    default:
        return REGULATOR_ERROR_NONE;
    }
}
