/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Decisions of a scheduling policy (B2): which of the READY and RUNNING VCPUs runs. sched_policy.c calls the
 * policy of the core; each policy is in a file of its own: sched_fixed_priority.c, sched_round_robin.c.
 * Called only by vcpu_sched.c; it reads states and changes nothing but turns.
 */
#ifndef BULKHEAD_CORE_SCHED_POLICY_H
#define BULKHEAD_CORE_SCHED_POLICY_H

#include "core/vcpu_sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The VCPU that should run, of the READY and RUNNING ones; NULL if there is none. */
struct sched_vcpu *sched_policy_pick(const struct sched_core *core);

/* Moves a VCPU that became READY, or whose time slice is over, behind its equals. */
void sched_policy_send_back(struct sched_core *core, struct sched_vcpu *vcpu);

/* Whether a READY VCPU should run when the time slice of the running one is over. */
bool sched_policy_shares(const struct sched_core *core);

/* The policies: whether an eligible VCPU precedes another eligible one, and whether the two alternate by time
 * slices. */
bool sched_fixed_priority_precedes(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);
bool sched_fixed_priority_alternates(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);
bool sched_round_robin_precedes(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);
bool sched_round_robin_alternates(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);

#ifdef __cplusplus
}
#endif

#endif
