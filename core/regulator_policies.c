/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Table of all policies, by number.
 */
#include "core/regulator_policy.h"
#include <stddef.h>

static const struct regulator_policy fixed = {"static", REGULATOR_LOAD_NONE, NULL, NULL};

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
