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
    REGULATOR_LOAD_NONE = 0,
    REGULATOR_LOAD_UTILIZATION = 1, /* `utilization`: a memory controller that counts busy cycles */
    REGULATOR_LOAD_TRAFFIC = 2,     /* `traffic_events`: cores that are not regulated count, too */
};

struct regulator_policy {
    const char *name; /* name in system files */
    /* Called when an interval is over. Sets regulator->budgets of regulated cores, each at least floor_events
     * and together at most regulator_ceiling(), regulator->global, and regulator->last_load if the policy has
     * a load. Counts a sample without the load that it needs as unusable. NULL: budgets never change. */
    void (*step)(struct regulator *regulator, const struct regulator_sample *sample);
};

/* The policy with a number of enum regulator_policy_number; NULL if there is none. */
const struct regulator_policy *regulator_policy_at(uint32_t number);

/* Events of the cores that are not regulated, and of all other masters: at most 2^30. For policies whose load
 * includes traffic. */
uint64_t regulator_events_of_others(const struct regulator_parameters *parameters,
                                    const struct regulator_sample *sample);

/* EL2 calls these two while it checks its manifest with the MMU off. Pointers in data are not valid then, so
 * they are no members of `struct regulator_policy`. */

/* The load that a policy needs: a mask of enum regulator_load_kind. */
uint32_t regulator_load_of(uint32_t number);

/* Checks the policy's own parameters and returns the first error. The common ones have been checked:
 * interval, cores, budgets, floor, ceiling, saturation. */
enum regulator_error regulator_check_policy(const struct regulator_parameters *parameters);

/* Checks of the policies, for regulator_check_policy(). */
enum regulator_error regulator_check_utilization(const struct regulator_parameters *parameters);
enum regulator_error regulator_check_bandwidth(const struct regulator_parameters *parameters);
enum regulator_error regulator_check_delay(const struct regulator_parameters *parameters);
enum regulator_error regulator_check_turns(const struct regulator_parameters *parameters);
enum regulator_error regulator_check_phases(const struct regulator_parameters *parameters);

/* Limits G to the range between floor and ceiling. */
void regulator_keep_bounds(struct regulator *regulator);

extern const struct regulator_policy regulator_utilization;
extern const struct regulator_policy regulator_bandwidth;
extern const struct regulator_policy regulator_delay;
extern const struct regulator_policy regulator_turns;
extern const struct regulator_policy regulator_phases;

#ifdef __cplusplus
}
#endif

#endif
