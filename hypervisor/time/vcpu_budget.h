/* SPDX-License-Identifier: Apache-2.0
 *
 * The budget of a VCPU, for whoever runs it: bandwidth.c on a core of its own, run/shared_core.c on one that
 * VCPUs share. As the manifest has it, as managers change it, and as it is seen from outside. On the VCPU's
 * core, with interrupts masked.
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

/* What the domain's VCPUs have together, if they do. Once, before the budgets of its VCPUs. */
void vcpu_budget_share_init(struct domain *domain);
/* Its VCPUs were off, perhaps for long; they still are. */
void vcpu_budget_share_renew(struct domain *domain);

/* As the manifest has it for the VCPU, unlimited if it has none; periods begin at `start_ticks`. It is kept
 * in `budget`, which is its owner's: the core's or the scheduler's. */
void vcpu_budget_init(struct vcpu_budget *own, struct budget *budget, const struct vcpu *vcpu,
                      uint64_t start_ticks);

/* Takes the setting that holds now, if it has another: true. Its counters have been saved. */
bool vcpu_budget_update(struct vcpu_budget *own, struct domain *domain, uint64_t now_ticks);

/* Whether lines that EL2 has moved for a guest are charged to its budget: not where instructions stand in for
 * events, as those are all counted. */
bool vcpu_budget_counts_lines(void);

/* For whoever looks from outside. */
void vcpu_budget_publish(const struct vcpu_budget *own, struct status_budget *to);

#ifdef __cplusplus
}
#endif

#endif
