/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the parameters of a regulator. All parameters are checked before any is used, so a refused change
 * has no effect (B8).
 */
#include "core/regulator_policy.h"

#define ALL_CORES ((1u << REGULATOR_MAX_CORES) - 1)

static bool is_regulated(const struct regulator_parameters *parameters, uint32_t core)
{
    return ((parameters->regulated >> core) & 1u) != 0;
}

/* Sum of the budgets of the cores that are regulated, or of those that are not; UINT64_MAX if a budget is out
 * of range. */
static uint64_t sum_of(const struct regulator_parameters *parameters, bool regulated)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (is_regulated(parameters, i) == regulated) {
            if (parameters->budget_events[i] > REGULATOR_MAX_EVENTS) {
                return UINT64_MAX;
            }
            sum += parameters->budget_events[i];
        }
    }
    return sum;
}

static bool budgets_are_valid(const struct regulator_parameters *parameters)
{
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        bool unlimited = parameters->budget_events[i] == REGULATOR_UNLIMITED;

        if (parameters->budget_events[i] > REGULATOR_MAX_EVENTS &&
            (!unlimited || is_regulated(parameters, i))) {
            return false;
        }
    }
    return true;
}

uint64_t regulator_ceiling(const struct regulator_parameters *parameters)
{
    uint64_t left = parameters->saturation_events - sum_of(parameters, false);

    return parameters->saturation_events != 0 && left < parameters->ceiling_events
               ? left
               : parameters->ceiling_events;
}

void regulator_keep_bounds(struct regulator *regulator)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint64_t lowest = (parameters->floor_events * regulator_count(parameters->regulated))
                      << REGULATOR_FRACTION_BITS;
    uint64_t highest = regulator_ceiling(parameters) << REGULATOR_FRACTION_BITS;

    if (regulator->global < lowest) {
        regulator->global = lowest;
    } else if (regulator->global > highest) {
        regulator->global = highest;
    }
}

/* Compares the budgets of the regulated cores with floor and ceiling. */
static enum regulator_error check_bounds(const struct regulator_parameters *parameters)
{
    if (parameters->regulated == 0) {
        return REGULATOR_ERROR_CORES;
    }
    if (parameters->ceiling_events > REGULATOR_MAX_EVENTS ||
        sum_of(parameters, true) > regulator_ceiling(parameters)) {
        return REGULATOR_ERROR_CEILING;
    }
    if (parameters->floor_events == 0) {
        return REGULATOR_ERROR_FLOOR;
    }
    /* Each budget is at least the floor, so the ceiling also suffices for all floors. */
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (is_regulated(parameters, i) && parameters->budget_events[i] < parameters->floor_events) {
            return REGULATOR_ERROR_FLOOR;
        }
    }
    return REGULATOR_ERROR_NONE;
}

enum regulator_error regulator_check(const struct regulator_parameters *parameters)
{
    enum regulator_error error;

    if (parameters->policy >= REGULATOR_POLICY_COUNT) {
        return REGULATOR_ERROR_POLICY;
    }
    if (!period_length_is_valid(parameters->interval_ticks)) {
        return REGULATOR_ERROR_INTERVAL;
    }
    if ((parameters->regulated & ~ALL_CORES) != 0) {
        return REGULATOR_ERROR_CORES;
    }
    if (!budgets_are_valid(parameters)) {
        return REGULATOR_ERROR_BUDGET;
    }
    if (parameters->saturation_events != 0 && sum_of(parameters, false) >= parameters->saturation_events) {
        return REGULATOR_ERROR_SATURATION;
    }
    if (parameters->policy == REGULATOR_STATIC) {
        return REGULATOR_ERROR_NONE;
    }
    error = check_bounds(parameters);
    return error != REGULATOR_ERROR_NONE ? error : regulator_check_policy(parameters);
}
