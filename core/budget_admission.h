/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Whether the memory bears the budgets of all domains together, and a change of one (B7, B8, B10, F3): the
 * tests that admit a system file, on what its manifest says. The manifest's check asks for the first budgets,
 * EL2 for those that managers want; its caller serializes. Nothing is kept here.
 *
 * What is tested, as far as the manifest states it:
 *   limit       all budgets together, those of regulated cores as they begin
 *   curve       utilization of what cores and broker may do at worst, and the measured table; regulated cores
 *               together are what the regulator may give them
 *   saturation  of a dynamic regulator: what the others have, and the most that it gives, stay within it
 * Work: for each domain, and once for the regulated cores, what memory_load_add() or memory_room() does, and
 * for each core a few divisions.
 */
#ifndef BULKHEAD_CORE_BUDGET_ADMISSION_H
#define BULKHEAD_CORE_BUDGET_ADMISSION_H

#include "core/manifest.h"
#include "core/memory_admission.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A budget. */
struct budget_parameters {
    uint64_t events;
    uint64_t period_ns;
};

/* Everything that is in force, or is about to be. Budgets that wait count beside those that they replace: the
 * larger of the two. Those of a regulator's members are in its parameters. */
struct admission_state {
    struct budget_parameters held[BH_MAX_DOMAINS];
    struct budget_parameters latest[BH_MAX_DOMAINS]; /* the same, if none wait */
    struct manifest_regulation regulation;
    uint64_t shortest_interval_ns; /* in which these parameters can hold */
};

/* What is wrong with parameters of the regulator. */
struct regulation_verdict {
    uint32_t word; /* index of the first with which all is too much; BH_REGULATION_WORDS: they are admitted */
    uint64_t most; /* what it may be beside those before it; of the interval the least */
};

/* Terms as an accepted manifest begins with them. */
void admission_begin(const struct manifest_header *manifest, struct admission_state *state);

/* Whether all of it is admitted. If it is, so is each change that makes something less. */
bool admission_holds(const struct manifest_header *manifest, const struct admission_state *state);

/* The most events of each period of `period_ns` that the domain may have beside all else, at most what a
 * budget can be; 0 if none. It has a budget, and is no member of the regulator's set. */
uint64_t admission_most_events(const struct manifest_header *manifest, const struct admission_state *state,
                               uint32_t domain, uint64_t period_ns);

/* Whether `state->regulation`, which manifest_regulation_bad_word() finds good, is admitted beside the
 * budgets of all other domains. */
struct regulation_verdict admission_of_regulation(const struct manifest_header *manifest,
                                                  const struct admission_state *state);

#ifdef __cplusplus
}
#endif

#endif
