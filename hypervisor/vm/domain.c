/* SPDX-License-Identifier: Apache-2.0
 *
 * The arrays of domains and VCPUs.
 */
#include "vm/domain.h"
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
        struct cpu *cpu = domain->vcpus[i].cpu;

        if (cpu != this_cpu()) {
            cpu_send_request(cpu, CPU_REQUEST_VCPU_POWER);
        } else if (cpu->shared != NULL) {
            cpu->hold |= CPU_HOLD_RESCHEDULE;
        }
    }
}
