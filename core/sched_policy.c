/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Picks the VCPU that precedes all others under the core's policy. A turn is a sequence number, assigned when
 * a VCPU is sent back: no two are equal, and the VCPU that was sent back first has the lowest.
 */
#include "core/sched_policy.h"
#include <stddef.h>

static bool is_eligible(const struct sched_vcpu *vcpu)
{
    return vcpu->state == SCHED_READY || vcpu->state == SCHED_RUNNING;
}

static bool precedes(const struct sched_core *core, const struct sched_vcpu *vcpu,
                     const struct sched_vcpu *other)
{
    return core->policy == SCHED_ROUND_ROBIN ? sched_round_robin_precedes(vcpu, other)
                                             : sched_fixed_priority_precedes(vcpu, other);
}

static bool alternates(const struct sched_core *core, const struct sched_vcpu *vcpu,
                       const struct sched_vcpu *other)
{
    return core->policy == SCHED_ROUND_ROBIN ? sched_round_robin_alternates(vcpu, other)
                                             : sched_fixed_priority_alternates(vcpu, other);
}

struct sched_vcpu *sched_policy_pick(const struct sched_core *core)
{
    struct sched_vcpu *first = NULL;

    for (uint32_t i = 0; i < core->count; i++) {
        struct sched_vcpu *vcpu = core->vcpus[i];

        if (is_eligible(vcpu) && (first == NULL || precedes(core, vcpu, first))) {
            first = vcpu;
        }
    }
    return first;
}

void sched_policy_send_back(struct sched_core *core, struct sched_vcpu *vcpu)
{
    vcpu->turn = ++core->turns;
}

bool sched_policy_shares(const struct sched_core *core)
{
    for (uint32_t i = 0; i < core->count; i++) {
        const struct sched_vcpu *vcpu = core->vcpus[i];

        if (vcpu->state == SCHED_READY && alternates(core, vcpu, core->running)) {
            return true;
        }
    }
    return false;
}
