/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * `dynamic` (B5): compares the share of time in which the memory was busy with U_T.
 */
#include "core/regulator_feedback.h"

enum regulator_error regulator_check_utilization(const struct regulator_parameters *parameters)
{
    if (parameters->threshold == 0 || parameters->threshold > UTILIZATION_MAX) {
        return REGULATOR_ERROR_THRESHOLD;
    }
    return regulator_check_feedback(parameters);
}

static void step(struct regulator *regulator, const struct regulator_sample *sample)
{
    const struct regulator_load seen = {
        sample->has_utilization,
        sample->utilization < UTILIZATION_MAX ? sample->utilization : UTILIZATION_MAX,
        regulator->parameters.threshold,
    };

    regulator_feedback(regulator, sample, &seen, regulator->parameters.step);
}

const struct regulator_policy regulator_utilization = {"dynamic", step};
