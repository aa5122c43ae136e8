/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces shared_core.c in programs where each core has one VCPU: cpu->shared is always NULL, and
 * core/manifest_space_only.c refuses other manifests. Each function traps, which ends EL2 with a panic.
 */
#include "run/shared_core.h"

void shared_core_begin(struct cpu *cpu, uint64_t start_ticks)
{
    (void)cpu;
    (void)start_ticks;
    __builtin_trap();
}

bool shared_core_add(struct cpu *cpu, struct vcpu *vcpu)
{
    (void)cpu;
    (void)vcpu;
    __builtin_trap();
}

void shared_core_settle(struct cpu *cpu, struct guest_regs *regs)
{
    (void)cpu;
    (void)regs;
    __builtin_trap();
}

void shared_core_reschedule(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

void shared_core_overflow(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

void shared_core_charge(struct cpu *cpu, uint64_t events)
{
    (void)cpu;
    (void)events;
    __builtin_trap();
}

void shared_core_wait_for_interrupt(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

void shared_core_wait_to_repeat(struct cpu *cpu)
{
    (void)cpu;
    __builtin_trap();
}

bool shared_core_inject_spi(const struct cpu *cpu, uint32_t intid)
{
    (void)cpu;
    (void)intid;
    __builtin_trap();
}
