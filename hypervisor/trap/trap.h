/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths from a guest into EL2. The entry code saves the registers that C functions may change and calls a
 * short path. If the short path cannot complete the exit, the entry code saves the other registers and calls
 * the full path. The declarations after these two groups are only for the files trap*.c.
 */
#ifndef BULKHEAD_TRAP_H
#define BULKHEAD_TRAP_H

#include "run/irq.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Short paths. Of `regs`, only x0 to x18 and x30 are valid. True: the exit is handled, and the guest may
 * continue. False: the full path must be called; it finds out whether the VCPU was stopped or whether nothing
 * was done yet. */
bool trap_sync_short(struct guest_regs *regs); /* synchronous exception from a lower level */

/* Full paths. They return when the guest may continue, with all of `regs` set. */
void trap_sync(struct guest_regs *regs);
void trap_settle(struct guest_regs *regs); /* after trap_irq_short() */
void trap_serror(struct guest_regs *regs); /* asynchronous abort while a guest ran */

/* trap_memory.c: stage-2 aborts. The two resolve functions need only the register that `esr` names, and
 * return true if the guest may continue. False: the access was not resolved, or cpu->hold is set. If
 * cpu->hold is not set, nothing was done, and one of the other two must be called: it injects an abort into
 * the guest or ends the domain. */
bool trap_data_abort_resolve(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);
bool trap_instruction_abort_resolve(struct cpu *cpu, uint64_t esr);
void trap_data_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);
void trap_instruction_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);

/* trap_sysreg.c: MRS and MSR. Needs only the register that the instruction names. Always returns true: every
 * access is answered. */
bool trap_sysreg(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);

/* trap_maintenance.c: system instructions, which have the same exception class. Returns false if it has set
 * cpu->hold. */
bool trap_maintenance(struct cpu *cpu, const struct guest_regs *regs, uint64_t esr);

/* Inject an exception into the guest at EL1 instead of the instruction that trapped: an undefined-instruction
 * exception; or the data abort of cache maintenance at `address`, with this fault status; or the synchronous
 * external abort of the access that `esr` describes. */
void trap_inject_undefined(void);
void trap_inject_data_abort(uint64_t address, uint64_t fault_status);
void trap_inject_external_abort(uint64_t esr);

/* Sets the return address to the instruction after the one that trapped. */
void trap_skip_instruction(uint64_t esr);

/* True if a short path has general register `index`; 31 is the zero register. */
static inline bool guest_register_is_volatile(uint32_t index)
{
    return (0xC007FFFFu >> index & 1) != 0;
}

/* Value of general register `index` of the instruction; 31 is the zero register. */
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
