/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Interface of a regulator's policy: takes the sample of an interval and computes the budgets for the next
 * one. Each policy is in a file of its own and is called by regulator.c. docs/guide/own-policy.md describes
 * how to add one.
 */
#ifndef BULKHEAD_CORE_REGULATOR_POLICY_H
#define BULKHEAD_CORE_REGULATOR_POLICY_H

#include "core/regulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The load that a policy needs in its samples, besides accesses and throttled cores. */
enum regulator_load_kind {
    REGULATOR_LOAD_NONE,
    REGULATOR_LOAD_UTILIZATION, /* `utilization`: a memory controller that counts busy cycles */
    REGULATOR_LOAD_TRAFFIC,     /* `traffic_events`: cores that are not regulated count, too */
};

struct regulator_policy {
    const char *name; /* name in system files */
    enum regulator_load_kind load;
    /* Checks the policy's own parameters and returns the first error. The common ones have been checked:
     * interval, cores, budgets, floor, ceiling, saturation. */
    enum regulator_error (*check)(const struct regulator_parameters *parameters);
    /* Called when an interval is over. Sets regulator->budgets of regulated cores, each at least floor_events
     * and together at most regulator_ceiling(), regulator->global, and regulator->last_load if the policy has
     * a load. Counts a sample without the load that it needs as unusable. NULL: budgets never change; `check`
     * is NULL, too. */
    void (*step)(struct regulator *regulator, const struct regulator_sample *sample);
};

/* The policy with a number of enum regulator_policy_number; NULL if there is none. */
const struct regulator_policy *regulator_policy_at(uint32_t number);

/* Limits G to the range between floor and ceiling. */
void regulator_keep_bounds(struct regulator *regulator);

extern const struct regulator_policy regulator_utilization;
extern const struct regulator_policy regulator_bandwidth;
extern const struct regulator_policy regulator_delay;
extern const struct regulator_policy regulator_turns;

#ifdef __cplusplus
}
#endif

#endif
