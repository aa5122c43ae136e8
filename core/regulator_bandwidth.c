/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * `dynamic-bandwidth` (B6): compares the memory's traffic with B_T, and changes G in steps of
 * REGULATOR_BANDWIDTH_STEP unless another step is given.
 */
#include "core/regulator_feedback.h"

enum regulator_error regulator_check_bandwidth(const struct regulator_parameters *parameters)
{
    if (parameters->bandwidth_threshold_events == 0 ||
        parameters->bandwidth_threshold_events > TRAFFIC_MAX_EVENTS) {
        return REGULATOR_ERROR_TRAFFIC;
    }
    return regulator_check_feedback(parameters);
}

static void step(struct regulator *regulator, const struct regulator_sample *sample)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    struct regulator_load seen = {.threshold = UTILIZATION_ONE};

    seen.measured = utilization_of_traffic(sample->traffic_events, sample->elapsed_ticks,
                                           parameters->bandwidth_threshold_events, parameters->interval_ticks,
                                           &seen.load);
    regulator_feedback(regulator, sample, &seen,
                       parameters->step != 0 ? parameters->step : REGULATOR_BANDWIDTH_STEP);
}

const struct regulator_policy regulator_bandwidth = {"dynamic-bandwidth", step};
