/* SPDX-License-Identifier: Apache-2.0
 *
 * VCPUs of several domains on one core (B2): connects core/vcpu_sched.h with the core's registers, event
 * counter and timer, and with its guests. A core with one VCPU does not use this (cpu->shared is NULL). All
 * functions are called on the core itself, with interrupts masked, except shared_core_add().
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

/* Adds a VCPU to a core that has `cpu->vcpu` already. Called on the first core, before the start. Returns
 * false if the pool is exhausted. */
bool shared_core_add(struct cpu *cpu, struct vcpu *vcpu);

/* Sets all budgets from the manifest; their periods begin at `start_ticks`. Called once, before the first
 * guest. */
void shared_core_begin(struct cpu *cpu, uint64_t start_ticks);

/* Dispatches: chooses the VCPU that runs next and loads its state into the core's registers and `regs`; waits
 * at EL2 while none can run. Every exit that calls one of the functions below must end with this call. */
void shared_core_settle(struct cpu *cpu, struct guest_regs *regs);

/* Requests a scheduling decision, because a timer, an overflow of the counter of budgets or a request of
 * another core may change which VCPU runs. EL2's work from now until shared_core_settle() is not charged to
 * any VCPU, because it may be for any of them. */
void shared_core_reschedule(struct cpu *cpu);

/* Called when a counter of the core has overflowed. A scheduling decision is needed only for the counter of
 * budgets: an overflow of a counter of the guest's own is work for the guest, in its time. */
void shared_core_overflow(struct cpu *cpu);

/* Charges `events` to the VCPU that was chosen last: its guest, or a step of its job, caused them without the
 * counter seeing them. The scheduling decision that follows is charged to the VCPU's time, unless
 * shared_core_reschedule() is called before it. */
void shared_core_charge(struct cpu *cpu, uint64_t events);

/* The guest executed WFI or an equivalent call: another VCPU may have the core until an interrupt arrives. */
void shared_core_wait_for_interrupt(struct cpu *cpu);

/* The guest must execute its current instruction again when no transfer accesses its domain's memory and the
 * SMMU uses none of it that is unmapped. Until then, another VCPU may have the core, possibly the broker that
 * does the transfer. */
void shared_core_wait_to_repeat(struct cpu *cpu);

/* Injects a device's interrupt; true if a domain of this core has taken it, as for vgic_inject_spi_hw(). */
bool shared_core_inject_spi(const struct cpu *cpu, uint32_t intid);

#ifdef __cplusplus
}
#endif

#endif
