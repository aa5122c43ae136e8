/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways from a guest into EL2. The entry code saves the guest's general registers and calls one of the
 * first three; they return when the guest may go on. The rest is shared between the files trap*.c only.
 */
#ifndef BULKHEAD_TRAP_H
#define BULKHEAD_TRAP_H

#include "cpu.h"
#include "domain.h"
#include "vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

void trap_sync(struct guest_regs *regs);   /* synchronous exception of a lower level */
void trap_irq(struct guest_regs *regs);    /* physical interrupt while a guest ran */
void trap_serror(struct guest_regs *regs); /* asynchronous abort while a guest ran */

/* trap_memory.c: stage-2 aborts. */
void trap_data_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);
void trap_instruction_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);

/* trap_sysreg.c: MRS, MSR and system instructions. */
void trap_sysreg(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);

/* Makes the guest take an undefined-instruction exception at EL1 instead of the instruction that trapped. */
void trap_inject_undefined(void);

/* Continues after the instruction that trapped. */
void trap_skip_instruction(uint64_t esr);

/* Ends the guest's domain: records where and why, and prints its registers. */
void trap_kill(struct cpu *cpu, const struct guest_regs *regs, enum bh_domain_end end);

/* General register `index` of the instruction; 31 is the zero register. */
static inline uint64_t guest_register(const struct guest_regs *regs, uint32_t index)
{
    return index == 31 ? 0 : regs->x[index];
}

static inline void set_guest_register(struct guest_regs *regs, uint32_t index, uint64_t value)
{
    if (index != 31) {
        regs->x[index] = value;
    }
}

#ifdef __cplusplus
}
#endif

#endif
