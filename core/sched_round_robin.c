/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Round robin: the VCPU that has waited longest for its turn runs, whatever its priority. No VCPU is
 * preempted before the end of its time slice.
 */
#include "core/sched_policy.h"

bool sched_round_robin_precedes(const struct sched_vcpu *vcpu, const struct sched_vcpu *other)
{
    return vcpu->turn < other->turn;
}

bool sched_round_robin_alternates(const struct sched_vcpu *vcpu, const struct sched_vcpu *other)
{
    (void)vcpu;
    (void)other;
    return true;
}
