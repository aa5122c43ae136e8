/* SPDX-License-Identifier: Apache-2.0
 *
 * The domains and their VCPUs: where they are, and what may be logged of each.
 */
#include "vm/domain.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/system.h"

static struct domain domains[BH_MAX_DOMAINS];
static struct vcpu vcpus[BH_MAX_VCPUS];

struct domain *domain_at(uint32_t index)
{
    return &domains[index];
}

uint32_t domain_count(void)
{
    return system_manifest()->domains.count;
}

struct vcpu *vcpu_at(uint32_t index)
{
    return &vcpus[index];
}

bool domain_is_on(const struct domain *domain, const struct cpu *cpu)
{
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if (domain->vcpus[i].cpu == cpu) {
            return true;
        }
    }
    return false;
}

void domain_tell_cores(const struct domain *domain)
{
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        cpu_send_request(domain->vcpus[i].cpu, CPU_REQUEST_VCPU_POWER);
    }
}

bool domain_may_log(struct domain *domain, struct log_allowance *allowance, uint32_t per_second,
                    uint32_t *left_out)
{
    uint64_t now = clock_now();
    bool may;

    spin_lock(&domain->life);
    if (now >= allowance->until) {
        allowance->until = now + clock_ticks(1000000000);
        allowance->used = 0;
    }
    may = allowance->used < per_second;
    if (may) {
        allowance->used++;
        *left_out = allowance->left_out;
        allowance->left_out = 0;
    } else {
        allowance->left_out++;
    }
    spin_unlock(&domain->life);
    return may;
}
