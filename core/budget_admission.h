/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Admission of memory budgets: whether the memory sustains the budgets of all domains together, and whether
 * it sustains a change of one (B7, B8, B10, F3). These are the tests that admit a system file, applied to its
 * manifest. The manifest's check calls them for the initial budgets, EL2 for changes that managers request;
 * EL2's caller serializes. Nothing is stored here.
 *
 * The tests, each done if the manifest states its inputs:
 *   limit       all budgets together, with the initial budgets of regulated cores, stay below the limit,
 *               from which the tool has subtracted the traffic of devices
 *   curve       the utilization that cores and broker can cause in the worst case, and the measured table;
 *               regulated cores together count as the most that the regulator may give them
 *   saturation  with a dynamic regulator: the limits of the others plus the most that it gives stay below it
 * Work: one memory_load_add() or memory_room() for each domain and one for all regulated cores, and a few
 * divisions for each core.
 */
#ifndef BULKHEAD_CORE_BUDGET_ADMISSION_H
#define BULKHEAD_CORE_BUDGET_ADMISSION_H

#include "core/manifest.h"
#include "core/memory_admission.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A budget of a domain. */
struct budget_parameters {
    uint64_t events;
    uint64_t period_ns;
};

/* All budgets and parameters that are in force or staged. A staged budget counts together with the one
 * that it replaces: the larger of the two is taken. Budgets of regulated cores are in the regulator's
 * parameters. */
struct admission_state {
    struct budget_parameters held[BH_MAX_DOMAINS];
    /* the staged budget; equal to `held` if none is staged */
    struct budget_parameters latest[BH_MAX_DOMAINS];
    struct manifest_regulation regulation;
    uint64_t shortest_interval_ns; /* the shortest interval for which these parameters are in force */
};

/* The verdict on parameters of the regulator. */
struct regulation_verdict {
    uint32_t word; /* index of the first word that makes the total too large; BH_REGULATION_WORDS: admitted */
    /* the largest value for that word, given the words before it; for the interval, the smallest */
    uint64_t most;
};

/* Sets the state to the initial budgets of an accepted manifest. */
void admission_begin(const struct manifest_header *manifest, struct admission_state *state);

/* Whether the whole state is admitted. If it is, each change that makes a budget smaller is admitted, too. */
bool admission_holds(const struct manifest_header *manifest, const struct admission_state *state);

/* The most events in each period of `period_ns` that the domain may have next to all other budgets, at
 * most the largest valid budget; 0 if none. The domain must have a budget and must not be in the
 * regulator's set. */
uint64_t admission_most_events(const struct manifest_header *manifest, const struct admission_state *state,
                               uint32_t domain, uint64_t period_ns);

/* Whether `state->regulation` is admitted next to the budgets of all other domains. It must have passed
 * manifest_regulation_bad_word(). */
struct regulation_verdict admission_of_regulation(const struct manifest_header *manifest,
                                                  const struct admission_state *state);

#ifdef __cplusplus
}
#endif

#endif
