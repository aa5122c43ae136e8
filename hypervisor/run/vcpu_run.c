/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts VCPUs, and idles while the core's VCPU is off. A guest starts in the state of a core after reset, as
 * PSCI and the Linux boot protocol describe it; nothing of an earlier guest remains.
 */
#include "run/vcpu_run.h"
#include "flow/flows.h"
#include "its/its.h"
#include "mpam/mpam_labels.h"
#include "run/domain_life.h"
#include "run/guest_state.h"
#include "run/irq.h"
#include "run/shared_core.h"
#include "time/bandwidth.h"
#include "time/guest_pmu.h"
#include "time/vcpu_budget.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/sysreg.h>
#include <string.h>

#define SPSR_EL1H_MASKED 0x3C5u

static bool take_start(struct vcpu *vcpu)
{
    uint32_t expected = VCPU_STARTING;

    return atomic_load(&vcpu->domain->state) == BH_DOMAIN_STATE_RUNNING &&
           atomic_compare_exchange_strong(&vcpu->power, &expected, VCPU_ON);
}

void vcpu_begin(struct cpu *cpu, struct guest_regs *regs)
{
    struct vcpu *vcpu = cpu->vcpu;

    memset(regs, 0, sizeof *regs);
    regs->x[0] = vcpu->boot_argument;
    mpam_guest_reset(vcpu);
    guest_state_reset(vcpu);
    sysreg_write(ELR_EL2, vcpu->entry.value);
    sysreg_write(SPSR_EL2, SPSR_EL1H_MASKED);
    vgic_vcpu_reset(vcpu);
    guest_pmu_reset(vcpu);
    arch_tlbi_local_all();
    arch_icache_invalidate_local();
    cpu->status->idle = 0;
    if (cpu->status->entered_at == 0) {
        cpu->status->entered_at = clock_now();
    }
}

/* Changes the VCPU's power from `power` to off, if it still has that value. Notifies the core that may be
 * waiting to restart the domain. */
static void go_off(struct vcpu *vcpu, uint32_t power)
{
    if (power != VCPU_OFF && atomic_compare_exchange_strong(&vcpu->power, &power, VCPU_OFF)) {
        domain_vcpu_is_off(vcpu->domain);
        if (vcpu->index != 0) {
            cpu_send_request(vcpu->domain->vcpus[0].cpu, CPU_REQUEST_VCPU_POWER);
        }
    }
}

void vcpu_went_off(struct vcpu *vcpu)
{
    flows_vcpu_off(vcpu);
    domain_ask_engine();
    go_off(vcpu, VCPU_STOPPING);
}

bool vcpu_restarts_domain(const struct vcpu *vcpu)
{
    return vcpu->index == 0 && domain_restart_is_due(vcpu->domain);
}

bool vcpu_take_start(struct vcpu *vcpu)
{
    /* Read before the domain's state, so that a value that the domain's next life sets is not overwritten. */
    uint32_t power = atomic_load(&vcpu->power);

    if (atomic_load(&vcpu->domain->state) != BH_DOMAIN_STATE_RUNNING) {
        flows_vcpu_off(vcpu); /* a VCPU that was off, or not yet on, at the stop does not go off any more */
        domain_ask_engine();
        go_off(vcpu, power);
    }
    return take_start(vcpu);
}

/* Waits until the period ends or the VCPU is stopped. Handles one interrupt at a time, because with periods
 * as short as their handling another one is always pending. */
static void wait_for_budget(struct cpu *cpu)
{
    its_hold_messages(true);
    while ((cpu->hold & CPU_HOLD_THROTTLED) != 0 && vcpu_may_run(cpu->vcpu)) {
        if (!irq_handle_one(cpu)) {
            arch_wfi();
        }
    }
    its_hold_messages(false);
}

/* Restarts the domain of this core's VCPU, which has this job, on the VCPU's budget. Interrupts are taken
 * between steps. */
static void restart_domain(struct cpu *cpu)
{
    struct domain *domain = cpu->vcpu->domain;
    bool over = false;
    uint64_t lines;

    bandwidth_start(cpu);
    while (!over && domain_restart_is_due(domain)) {
        if ((cpu->hold & CPU_HOLD_THROTTLED) == 0) {
            over = domain_restart_step(domain, &lines);
            bandwidth_charge(cpu, lines);
            (void)irq_handle_one(cpu);
        } else if (!irq_handle_one(cpu)) {
            arch_wfi();
        }
    }
    bandwidth_stop(cpu);
}

/* Turns the core's VCPU off, if it has one, and waits for its next start. */
static void wait_for_start(struct cpu *cpu, struct guest_regs *regs)
{
    if (cpu->vcpu != NULL) {
        bandwidth_stop(cpu);
        vgic_vcpu_off(cpu->vcpu);
        guest_pmu_reset(cpu->vcpu);
        if (arch_take_serror()) { /* caused by its last instructions; must not affect its next life */
            cpu_count_exit(cpu, BH_EXIT_REASON_SERROR);
        }
        vcpu_went_off(cpu->vcpu);
    }
    cpu->status->idle = 1;
    for (;;) {
        if (cpu->vcpu != NULL && vcpu_take_start(cpu->vcpu)) {
            vcpu_begin(cpu, regs);
            bandwidth_start(cpu);
            return;
        }
        if (cpu->vcpu != NULL && vcpu_restarts_domain(cpu->vcpu)) {
            restart_domain(cpu);
        } else if (!irq_handle_one(cpu)) {
            arch_wfi();
        }
    }
}

void vcpu_wait(struct cpu *cpu, struct guest_regs *regs)
{
    if (cpu->shared != NULL) {
        shared_core_settle(cpu, regs);
        return;
    }
    do {
        if (cpu->vcpu != NULL && vcpu_may_run(cpu->vcpu)) {
            wait_for_budget(cpu);
        } else {
            wait_for_start(cpu, regs);
        }
    } while (!vcpu_may_run(cpu->vcpu) || cpu->hold != 0);
}
