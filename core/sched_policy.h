/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What a scheduling policy decides (B2): of those that are READY or RUNNING, who runs. sched_policy.c asks
 * the one that a core has, each of which is a source of its own: sched_fixed_priority.c, sched_round_robin.c.
 * Called by vcpu_sched.c only; it looks at states, and changes nothing but turns.
 */
#ifndef BULKHEAD_CORE_SCHED_POLICY_H
#define BULKHEAD_CORE_SCHED_POLICY_H

#include "core/vcpu_sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who should run of the READY and RUNNING ones; NULL if there is none. */
struct sched_vcpu *sched_policy_pick(const struct sched_core *core);

/* It became READY, or its slice is over: others of its kind come first. */
void sched_policy_send_back(struct sched_core *core, struct sched_vcpu *vcpu);

/* True if a READY one should run when the slice of the running one is over. */
bool sched_policy_shares(const struct sched_core *core);

/* What differs between policies: whether an eligible VCPU goes before another eligible one, and whether the
 * two take turns. */
bool sched_fixed_priority_precedes(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);
bool sched_fixed_priority_alternates(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);
bool sched_round_robin_precedes(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);
bool sched_round_robin_alternates(const struct sched_vcpu *vcpu, const struct sched_vcpu *other);

#ifdef __cplusplus
}
#endif

#endif
