/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Fixed priorities, with round robin among equal ones: the VCPU with the highest priority runs; of several,
 * the one that has waited longest for its turn. A VCPU that is preempted by one with a higher priority keeps
 * its turn.
 */
#include "core/sched_policy.h"

bool sched_fixed_priority_precedes(const struct sched_vcpu *vcpu, const struct sched_vcpu *other)
{
    return vcpu->priority < other->priority ||
           (vcpu->priority == other->priority && vcpu->turn < other->turn);
}

bool sched_fixed_priority_alternates(const struct sched_vcpu *vcpu, const struct sched_vcpu *other)
{
    return vcpu->priority == other->priority;
}
