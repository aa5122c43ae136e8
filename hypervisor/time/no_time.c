/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces the sources of budgets, regulators, samples and guests' performance monitors in programs without
 * these. core/manifest_space_only.c refuses a manifest that asks for any. Functions that only such a manifest
 * could reach trap, which ends EL2 with a panic.
 */
#include "time/bandwidth.h"
#include "time/bandwidth_update.h"
#include "time/device_regulators.h"
#include "time/guest_pmu.h"
#include "time/hypercall_bandwidth.h"
#include "time/pmu.h"
#include "time/regulation.h"
#include "time/statistics.h"
#include "time/vcpu_budget.h"
#include "vm/cpu.h"

/* bandwidth.h: no VCPU has a budget. Stops the counters, which a loader may have left running. */
bool bandwidth_init(struct cpu *cpu, uint64_t *mdcr)
{
    static const uint32_t no_events[PMU_COUNTERS];

    return pmu_init(&cpu->bandwidth.pmu, no_events, 0, false, mdcr);
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

bool bandwidth_pause(struct cpu *cpu)
{
    (void)cpu;
    return false;
}

void bandwidth_resume(struct cpu *cpu, bool paused)
{
    (void)cpu;
    (void)paused;
}

void bandwidth_overflow(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

void bandwidth_period(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

void bandwidth_published(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

/* vcpu_budget.h: no VCPUs share a budget. */
void vcpu_budget_share_init(struct domain *domain)
{
    (void)domain;
}

/* bandwidth_update.h: there are no settings. */
void bandwidth_update_init_all(uint64_t start_ticks)
{
    (void)start_ticks;
}

/* regulation.h, statistics.h: no core is in a set, and there is nothing to sample. */
void regulation_init(void) {}

bool statistics_init_all(void)
{
    return true;
}

/* hypercall_bandwidth.h: the calls return 'not supported'. */
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
    __builtin_trap();
}

uint32_t device_regulators_init(void)
{
    return 0;
}
