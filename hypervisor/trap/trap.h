/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways from a guest into EL2. The entry code saves the registers that C may change and takes a short way;
 * if that does not lead to the end, it saves the rest and takes the whole way. All after these is shared
 * between the files trap*.c only.
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

/* Short ways: of `regs` only x0 to x18 and x30 are valid. True: all done, the guest may go on. False: the
 * whole way must be taken, which finds out whether the VCPU was stopped or nothing was done yet. */
bool trap_sync_short(struct guest_regs *regs); /* synchronous exception of a lower level */

/* Whole ways: return when the guest may go on, with all of `regs` as it shall be. */
void trap_sync(struct guest_regs *regs);
void trap_settle(struct guest_regs *regs); /* after trap_irq_short() */
void trap_serror(struct guest_regs *regs); /* asynchronous abort while a guest ran */

/* trap_memory.c: stage-2 aborts. The first two need only the register that `esr` names, and do nothing if
 * they return false: then the domain must be ended, or the guest hear of it, which the other two do, unless
 * they have set cpu->hold.
 */
bool trap_data_abort_resolve(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);
bool trap_instruction_abort_resolve(struct cpu *cpu, uint64_t esr);
void trap_data_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);
void trap_instruction_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);

/* trap_sysreg.c: MRS and MSR; all that it needs is the one register that they name. Returns true: there is an
 * answer to all of them. */
bool trap_sysreg(struct cpu *cpu, struct guest_regs *regs, uint64_t esr);

/* trap_maintenance.c: system instructions, which come the same way. False: it has set cpu->hold. */
bool trap_maintenance(struct cpu *cpu, const struct guest_regs *regs, uint64_t esr);

/* Makes the guest take an undefined-instruction exception at EL1 instead of the instruction that trapped; or
 * the data abort of cache maintenance at `address`, with this fault status; or the synchronous external abort
 * of the access that `esr` is about. */
void trap_inject_undefined(void);
void trap_inject_data_abort(uint64_t address, uint64_t fault_status);
void trap_inject_external_abort(uint64_t esr);

/* Continues after the instruction that trapped. */
void trap_skip_instruction(uint64_t esr);

/* Whether a short way has general register `index`; 31 is the zero register. */
static inline bool guest_register_is_volatile(uint32_t index)
{
    return (0xC007FFFFu >> index & 1) != 0;
}

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
