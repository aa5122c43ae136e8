/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * `dynamic-phases` (B11): `dynamic` with a memory of the other cores' phases. A phase is a range of what the
 * cores that are not regulated (the others) move in an interval. Each range ends at twice the traffic at
 * which the one below it ends; the highest begins at B_T. In each phase the feedback finds a G of its own,
 * over many intervals. When the others change their phase, the G that was found for the new one is in force
 * from the next interval on. In the lowest phase the others move next to nothing, and regulated cores share
 * the ceiling. docs/design/bandwidth.md says what this can cost the others.
 */
#include "core/regulator_feedback.h"

enum regulator_error regulator_check_phases(const struct regulator_parameters *parameters)
{
    if (parameters->threshold == 0 || parameters->threshold > UTILIZATION_MAX) {
        return REGULATOR_ERROR_THRESHOLD;
    }
    if (parameters->bandwidth_threshold_events == 0 ||
        parameters->bandwidth_threshold_events > TRAFFIC_MAX_EVENTS) {
        return REGULATOR_ERROR_TRAFFIC;
    }
    return regulator_check_feedback(parameters);
}

/* The phase of an interval in which the others moved so many events. */
static uint32_t phase_of(const struct regulator_parameters *parameters, uint64_t others)
{
    uint32_t phase = REGULATOR_PHASE_COUNT - 1;

    for (uint64_t least = parameters->bandwidth_threshold_events; phase != 0 && others < least; least /= 2) {
        phase--;
    }
    return phase;
}

/* An interval of the same phase as the one before had this phase's G, so its load corrects this G. An
 * interval in which the phase has changed says nothing about the G of either. */
static void step(struct regulator *regulator, const struct regulator_sample *sample)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint32_t phase = phase_of(parameters, regulator_events_of_others(parameters, sample));
    const struct regulator_load seen = {
        sample->has_utilization,
        sample->utilization < UTILIZATION_MAX ? sample->utilization : UTILIZATION_MAX,
        parameters->threshold,
    };

    regulator_feed_back(regulator, sample, &seen, parameters->step);
    if (phase == regulator->phase) {
        regulator->phase_global[phase] = regulator->global;
    }
    regulator->phase = phase;
    regulator->global = phase != 0 ? regulator->phase_global[phase]
                                   : regulator_ceiling(parameters) << REGULATOR_FRACTION_BITS;
    regulator_divide(regulator, sample);
}

const struct regulator_policy regulator_phases = {"dynamic-phases", step};
