/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A policy of a regulator: a sample of an interval in, budgets for the next one out. Each is a file of its
 * own, which regulator.c calls through this. docs/own-policy.md adds one.
 */
#ifndef BULKHEAD_CORE_REGULATOR_POLICY_H
#define BULKHEAD_CORE_REGULATOR_POLICY_H

#include "core/regulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a policy needs of its samples, besides accesses and who was throttled. */
enum regulator_load_kind {
    REGULATOR_LOAD_NONE,
    REGULATOR_LOAD_UTILIZATION, /* `utilization`: a memory controller that counts busy cycles */
    REGULATOR_LOAD_TRAFFIC,     /* `traffic_events`: cores that are not regulated count, too */
};

struct regulator_policy {
    const char *name; /* in system files */
    enum regulator_load_kind load;
    /* The first of its own parameters that is wrong. Those of all policies are good: interval, cores,
     * budgets, floor, ceiling, saturation. */
    enum regulator_error (*check)(const struct regulator_parameters *parameters);
    /* One interval is over. Sets regulator->budgets of regulated cores, each at least floor_events and
     * together at most regulator_ceiling(), regulator->global, and regulator->last_load where it has a load.
     * A sample that does not say what it needs is counted as unusable. NULL: budgets stay, and check is NULL,
     * too. */
    void (*step)(struct regulator *regulator, const struct regulator_sample *sample);
};

/* By enum regulator_policy_number; NULL: there is no such. */
const struct regulator_policy *regulator_policy_at(uint32_t number);

/* G within what floor and ceiling allow. */
void regulator_keep_bounds(struct regulator *regulator);

extern const struct regulator_policy regulator_utilization;
extern const struct regulator_policy regulator_bandwidth;
extern const struct regulator_policy regulator_delay;
extern const struct regulator_policy regulator_turns;

#ifdef __cplusplus
}
#endif

#endif
