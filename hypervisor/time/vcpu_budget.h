/* SPDX-License-Identifier: Apache-2.0
 *
 * The budget of a VCPU as taken from the manifest, changed by managers and published to observers.
 * bandwidth.c uses it on cores with one VCPU, run/shared_core.c on cores that VCPUs share. All functions are
 * called on the VCPU's core, with interrupts masked.
 */
#ifndef BULKHEAD_VCPU_BUDGET_H
#define BULKHEAD_VCPU_BUDGET_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct vcpu;

/* Sets up the budget that the domain's VCPUs share, if they share one. Called once, before the budgets of its
 * VCPUs are set up. */
void vcpu_budget_share_init(struct domain *domain);

/* Sets up the VCPU's budget from the manifest, unlimited if it has none. Periods begin at `start_ticks`.
 * `budget` is the caller's storage: the core's or the scheduler's. */
void vcpu_budget_init(struct vcpu_budget *own, struct budget *budget, const struct vcpu *vcpu,
                      uint64_t start_ticks);

/* Applies the setting that is in force now, if it has changed; then returns true. The counters must have been
 * saved. */
bool vcpu_budget_update(struct vcpu_budget *own, struct domain *domain, uint64_t now_ticks);

/* True if cache lines that EL2 has moved for a guest are charged to its budget. False on platforms where
 * instructions are counted instead of memory events, because those include EL2's. */
bool vcpu_budget_counts_lines(void);

/* Copies the budget's statistics to a status page, for observers. */
void vcpu_budget_publish(const struct vcpu_budget *own, struct status_budget *to);

#ifdef __cplusplus
}
#endif

#endif
