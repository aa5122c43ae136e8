/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides whether the VCPU of a core may run. Every exit that can stop the VCPU, or that reports that another
 * core has stopped it, ends here. Nearly always there is nothing to do.
 */
#ifndef BULKHEAD_VCPU_RUN_H
#define BULKHEAD_VCPU_RUN_H

#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Waits at EL2, taking interrupts, while this core's VCPU may not run: until its budget is refilled, or until
 * it is started, which loads its initial state into `regs` and the core's registers. On a core that several
 * VCPUs share, calls shared_core_settle(). */
void vcpu_wait(struct cpu *cpu, struct guest_regs *regs);

/* Steps of a start, on a core whose registers are free. vcpu_take_start(): true if the VCPU is to be started
 * now; the caller must then start it. vcpu_begin(): sets up cpu->vcpu. vcpu_went_off(): the VCPU's core has
 * saved or dropped all its state, so that it is off. */
bool vcpu_take_start(struct vcpu *vcpu);
void vcpu_begin(struct cpu *cpu, struct guest_regs *regs);
void vcpu_went_off(struct vcpu *vcpu);

/* True if this VCPU has the job of restarting its domain and the job can continue: domain_restart_step(). */
bool vcpu_restarts_domain(const struct vcpu *vcpu);

/* True if the VCPU may run: it is on and its domain runs. */
static inline bool vcpu_may_run(const struct vcpu *vcpu)
{
    return atomic_load_explicit(&vcpu->power, memory_order_acquire) == VCPU_ON &&
           atomic_load_explicit(&vcpu->domain->state, memory_order_acquire) == BH_DOMAIN_STATE_RUNNING;
}

/* End of the full path of an exit: returns at once if the VCPU may run, otherwise when it may run again or
 * was started again. */
static inline void vcpu_settle(struct cpu *cpu, struct guest_regs *regs)
{
    if (!vcpu_may_run(cpu->vcpu) || cpu->hold != 0) {
        vcpu_wait(cpu, regs);
    }
}

#ifdef __cplusplus
}
#endif

#endif
