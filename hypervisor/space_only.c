/* SPDX-License-Identifier: Apache-2.0
 *
 * Space without time: what budgets, regulators, samples, shared cores and the monitors of guests are in a
 * program that has none, function by function of their headers. Linked in place of their sources, so that who
 * calls them need not know. core/manifest_space_only.c has refused a manifest that asks for any of it: what
 * only such a manifest leads to is never called, and says so.
 */
#include "cpu.h"
#include "flows.h"
#include "guest_pmu.h"
#include "hypercall_bandwidth.h"
#include "hypercall_flows.h"
#include "regulation.h"
#include "shared_core.h"

/* bandwidth.h: no VCPU has a budget. The counters stand still, whatever a loader left. */
bool bandwidth_init(struct cpu *cpu, uint64_t *mdcr)
{
    static const uint32_t no_events[PMU_COUNTERS];

    return pmu_init(&cpu->bandwidth.pmu, no_events, 0, false, mdcr);
}

void bandwidth_share_init(struct domain *domain)
{
    (void)domain;
}

void bandwidth_share_renew(struct domain *domain)
{
    (void)domain;
}

void bandwidth_set_epoch(struct cpu *cpu, uint64_t start_ticks)
{
    (void)cpu;
    (void)start_ticks;
}

void bandwidth_start(struct cpu *cpu)
{
    (void)cpu;
}

void bandwidth_stop(struct cpu *cpu)
{
    (void)cpu;
}

void bandwidth_charge(struct cpu *cpu, uint64_t lines)
{
    (void)cpu;
    (void)lines;
}

void bandwidth_overflow(struct cpu *cpu)
{
    (void)cpu;
}

void bandwidth_period(struct cpu *cpu)
{
    (void)cpu;
}

void bandwidth_published(struct cpu *cpu)
{
    (void)cpu;
}

/* bandwidth_terms.h: nothing is agreed. */
void bandwidth_terms_init_all(uint64_t start_ticks)
{
    (void)start_ticks;
}

/* regulation.h, statistics.h: nobody is in a set, and there is nothing to sample. */
void regulation_init(void) {}

bool statistics_init_all(void)
{
    return true;
}

/* hypercall_bandwidth.h: the calls do not exist. */
static void not_supported(uint64_t x[31])
{
    x[0] = (uint64_t) - (int64_t)BH_HYPERCALL_ERROR_NOT_SUPPORTED;
}

void hypercall_budget_read(struct domain *domain, uint64_t x[31])
{
    (void)domain;
    not_supported(x);
}

void hypercall_budget_change(struct domain *domain, uint64_t x[31])
{
    (void)domain;
    not_supported(x);
}

void hypercall_samples_store(uint64_t x[31])
{
    not_supported(x);
}

void hypercall_sample_read(uint64_t x[31])
{
    not_supported(x);
}

void hypercall_regulation_read(uint64_t x[31])
{
    not_supported(x);
}

void hypercall_regulation_change(uint64_t x[31])
{
    not_supported(x);
}

/* guest_pmu.h: no guest has monitors; their registers are undefined. */
void guest_pmu_reset(struct vcpu *vcpu)
{
    (void)vcpu;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool guest_pmu_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value)
{
    (void)vcpu;
    (void)encoding;
    (void)write;
    (void)value;
    return false;
}

uint64_t guest_pmu_dfr0(const struct vcpu *vcpu)
{
    (void)vcpu;
    return 0;
}

void guest_pmu_overflow(struct vcpu *vcpu)
{
    (void)vcpu;
}

/* shared_core.h: a core has one VCPU, so that cpu->shared is NULL everywhere, and all but the first are never
 * called. */
bool shared_core_add(struct cpu *cpu, struct vcpu *vcpu)
{
    (void)cpu;
    (void)vcpu;
    return false;
}

void shared_core_settle(struct cpu *cpu, struct guest_regs *regs)
{
    (void)cpu;
    (void)regs;
}

void shared_core_look(struct cpu *cpu)
{
    (void)cpu;
}

void shared_core_wait_for_interrupt(struct cpu *cpu)
{
    (void)cpu;
}

bool shared_core_inject_spi(const struct cpu *cpu, uint32_t intid)
{
    (void)cpu;
    (void)intid;
    return false;
}

/* hypercall_flows.h: the calls do not exist. */
/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool hypercall_flows(const struct domain *caller, uint64_t x[31])
{
    (void)caller;
    if ((uint32_t)x[0] < BH_HYPERCALL_FLOW_ADD || (uint32_t)x[0] > BH_HYPERCALL_FLOW_REMOVE) {
        return false;
    }
    not_supported(x);
    return true;
}

/* flows.h: there are none. */
bool flows_init_all(void)
{
    return true;
}

bool flows_is_broker(const struct domain *domain)
{
    (void)domain;
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool flows_device_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    (void)domain;
    (void)page;
    (void)offset;
    return false;
}

bool flows_device_access(struct vcpu *vcpu, struct mmio_access *access)
{
    (void)vcpu;
    (void)access;
    return false;
}

void flows_attend(struct cpu *cpu)
{
    (void)cpu;
}

bool flows_engine_interrupt(uint32_t intid)
{
    (void)intid;
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
void flows_broker_next(const struct vcpu *vcpu, uint64_t x[31])
{
    (void)vcpu;
    (void)x;
}

void flows_domain_stopped(struct domain *domain)
{
    (void)domain;
}

void flows_vcpu_off(const struct domain *domain)
{
    (void)domain;
}

bool flows_touch(const struct domain *domain)
{
    (void)domain;
    return false;
}

void flows_domain_reset(struct domain *domain)
{
    (void)domain;
}
