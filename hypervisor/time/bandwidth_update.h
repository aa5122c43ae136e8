/* SPDX-License-Identifier: Apache-2.0
 *
 * Budget and period of a domain: the values in force, and those that a manager has requested (B8). All
 * functions may be called on any core.
 */
#ifndef BULKHEAD_BANDWIDTH_UPDATE_H
#define BULKHEAD_BANDWIDTH_UPDATE_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct budget_parameters;
struct domain;

/* The budget that was requested last. */
struct bandwidth_setting {
    uint64_t events;
    uint64_t period_ns;
    bool waits; /* staged: in force from the start of a later period on */
};

/* Sets all domains' budgets to those of the manifest, in force from `start_ticks` on. Called once, before any
 * guest runs. */
void bandwidth_update_init_all(uint64_t start_ticks);

struct bandwidth_setting bandwidth_latest_setting(struct domain *domain, uint64_t now_ticks);

/* The values in force and those that were requested last; zeros for a domain without a budget. */
void bandwidth_parameters(struct domain *domain, uint64_t now_ticks, struct budget_parameters *held,
                          struct budget_parameters *latest);

/* Stages a new budget for all VCPUs of the domain. Returns the start of the period from which on it is in
 * force. The values must have passed manifest_budget_is_sound() and be admitted (admission.h). */
uint64_t bandwidth_request_update(struct domain *domain, uint64_t now_ticks, uint64_t events,
                                  uint64_t period_ns);

/* True if a manager may change the domain's budget: it is a single budget, not set by the regulator and not
 * shared with other domains through the reclaim pool. */
bool bandwidth_is_changeable(const struct domain *domain);

/* True if a setting other than the one with `sequence` is in force now; then `*setting` is that setting. */
bool bandwidth_other_setting(struct domain *domain, uint64_t sequence, uint64_t now_ticks,
                             struct budget_setting *setting);

#ifdef __cplusplus
}
#endif

#endif
