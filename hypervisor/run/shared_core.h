/* SPDX-License-Identifier: Apache-2.0
 *
 * VCPUs of several domains on one core (B2): core/vcpu_sched.h between the core's registers, its event
 * counter, its timer and its guests. A core with one VCPU has none of this (cpu->shared is NULL). All on the
 * core itself, with interrupts masked.
 */
#ifndef BULKHEAD_SHARED_CORE_H
#define BULKHEAD_SHARED_CORE_H

#include "vm/cpu.h"
#include "vm/vcpu.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One more VCPU for a core that has `cpu->vcpu` already. First core, before the start; false when the pool is
 * exhausted. */
bool shared_core_add(struct cpu *cpu, struct vcpu *vcpu);

/* All budgets as the manifest has them; their periods begin at `start_ticks`. Once, before the first guest.
 */
void shared_core_begin(struct cpu *cpu, uint64_t start_ticks);

/* Chooses who runs, and makes the core's registers and `regs` its own; waits at EL2 while nobody can. The end
 * of the way of every exit that calls one of those below. */
void shared_core_settle(struct cpu *cpu, struct guest_regs *regs);

/* Something has happened that may change who runs: a timer, the counter's overflow, a request of another
 * core. What EL2 does from now on, until it has settled, is charged to nobody: it may be for any. */
void shared_core_reschedule(struct cpu *cpu);

/* The VCPU that was chosen last has caused so many events where its counter does not see them: its guest has,
 * or a step of its job. The decision that follows is of its time, unless something else comes before it. */
void shared_core_charge(struct cpu *cpu, uint64_t events);

/* WFI of the guest, or a call that means the same: somebody else may have the core until an interrupt comes.
 */
void shared_core_wait_for_interrupt(struct cpu *cpu);

/* The instruction that the guest is at is to be executed again when no transfer touches its domain's memory:
 * somebody else, who may be the one that copies, has the core until then. */
void shared_core_wait_for_transfer(struct cpu *cpu);

/* A device's interrupt: true if a domain of this core has taken it, as vgic_inject_spi_hw(). */
bool shared_core_inject_spi(const struct cpu *cpu, uint32_t intid);

#ifdef __cplusplus
}
#endif

#endif
