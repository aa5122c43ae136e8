/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the VCPU of a core may run. Exits that can stop it, or that tell that another core did, end here:
 * nearly always there is nothing to do.
 */
#ifndef BULKHEAD_VCPU_RUN_H
#define BULKHEAD_VCPU_RUN_H

#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Waits at EL2, taking interrupts, while this core's VCPU may not run: until its budget is full again, or
 * until it is to be started, which sets it up in `regs` and in the core's registers. Where several share the
 * core, shared_core_settle(). */
void vcpu_wait(struct cpu *cpu, struct guest_regs *regs);

/* The steps of a start, for a core whose registers are free: whether the VCPU is to be started now (then it
 * must be), and setting up cpu->vcpu. And of its end: its core has put it away. */
bool vcpu_take_start(struct vcpu *vcpu);
void vcpu_begin(struct cpu *cpu, struct guest_regs *regs);
void vcpu_went_off(struct vcpu *vcpu);

/* The restart of its domain is this VCPU's job and can go on: domain_restart_step(). */
bool vcpu_restarts_domain(const struct vcpu *vcpu);

/* The VCPU may go on: it is on and its domain runs. */
static inline bool vcpu_may_run(const struct vcpu *vcpu)
{
    return atomic_load_explicit(&vcpu->power, memory_order_acquire) == VCPU_ON &&
           atomic_load_explicit(&vcpu->domain->state, memory_order_acquire) == BH_DOMAIN_STATE_RUNNING;
}

/* End of the whole way of an exit: returns at once if the VCPU may go on, else when it was started again. */
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
