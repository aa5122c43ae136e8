/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * `dynamic-turns` (B11): one regulated core at a time gets all that the ceiling allows, for one interval, and
 * the others get their floors. The example policy of docs/guide/own-policy.md.
 */
#include "core/regulator_policy.h"

enum regulator_error regulator_check_turns(const struct regulator_parameters *parameters)
{
    (void)parameters; /* this policy has no parameters of its own */
    return REGULATOR_ERROR_NONE;
}

static void step(struct regulator *regulator, const struct regulator_sample *sample)
{
    uint32_t cores = regulator->parameters.regulated;
    uint64_t floor = regulator->parameters.floor_events;
    uint64_t ceiling = regulator_ceiling(&regulator->parameters);
    uint32_t count = regulator_count(cores);
    uint64_t before =
        count != 0 ? sample->number % count : 0; /* number of cores before the one whose turn it is */

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (((cores >> i) & 1u) != 0) {
            regulator->budgets[i] = before == 0 ? ceiling - floor * (count - 1) : floor;
            before--;
        }
    }
    regulator->global = ceiling << REGULATOR_FRACTION_BITS;
}

const struct regulator_policy regulator_turns = {"dynamic-turns", step};
