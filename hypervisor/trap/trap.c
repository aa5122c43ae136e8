/* SPDX-License-Identifier: Apache-2.0
 *
 * Dispatch of traps. The common paths (hypercalls, interrupts) come first and do only the necessary work. An
 * unexpected trap is counted and answered with an undefined-instruction exception; it never ends EL2.
 */
#include "trap/trap.h"
#include "base/syndrome.h"
#include "run/crash.h"
#include "run/shared_core.h"
#include "run/vcpu_run.h"
#include "trap/hypercall.h"
#include "trap/psci.h"
#include "vgic/vgic.h"
#include <arch/sysreg.h>

#define SPSR_MODE_EL1H     0x5u
#define SPSR_MODE_AARCH32  0x10u
#define SPSR_MODE_LEVEL    0xCu
#define SPSR_MODE_HANDLER  0x1u
#define SPSR_DAIF          0x3C0u
#define VECTOR_LOWER_A32   0x600u
#define VECTOR_LOWER_A64   0x400u
#define VECTOR_CURRENT_SPX 0x200u
#define ESR_IL             (1u << 25)
#define ESR_ABORT_CM       (1u << 8) /* caused by cache maintenance, which counts as a write */
#define ESR_ABORT_WNR      (1u << 6)
#define ESR_ABORT_EXTERNAL 0x10u        /* fault status: synchronous external abort of the access itself */
#define SPSR_SS            (1ull << 21) /* the state after an executed instruction */
#define SPSR_BTYPE         (3ull << 10)
#define SPSR_PAN           (1ull << 22)
#define SPSR_SSBS          (1ull << 12)
#define SCTLR_SPAN         (1ull << 23) /* exceptions do not change PAN */
#define SCTLR_DSSBS        (1ull << 44)

void trap_skip_instruction(uint64_t esr)
{
    uint64_t spsr = sysreg_read(SPSR_EL2);
    uint64_t used = (spsr & SPSR_MODE_AARCH32) != 0 ? SPSR_SS : SPSR_SS | SPSR_BTYPE;

    sysreg_write(ELR_EL2, sysreg_read(ELR_EL2) + esr_instruction_bytes(esr));
    if ((spsr & used) != 0) { /* the guest's debugger single-steps, or BTYPE is set */
        sysreg_write(SPSR_EL2, spsr & ~used);
    }
}

/* PSTATE after an exception to EL1. As in hardware, two of its bits depend on the guest's SCTLR_EL1. */
static uint64_t exception_spsr(uint64_t from)
{
    uint64_t sctlr = sysreg_read(SCTLR_EL1);
    uint64_t pan = (sctlr & SCTLR_SPAN) != 0 ? from & SPSR_PAN : SPSR_PAN;

    return SPSR_MODE_EL1H | SPSR_DAIF | pan | ((sctlr & SCTLR_DSSBS) != 0 ? SPSR_SSBS : 0);
}

static void inject(uint64_t spsr, uint64_t syndrome)
{
    uint64_t vector;

    if ((spsr & SPSR_MODE_AARCH32) != 0) {
        vector = VECTOR_LOWER_A32;
    } else if ((spsr & SPSR_MODE_LEVEL) == 0) {
        vector = VECTOR_LOWER_A64;
    } else {
        vector = (spsr & SPSR_MODE_HANDLER) != 0 ? VECTOR_CURRENT_SPX : 0;
    }
    sysreg_write(ESR_EL1, syndrome);
    sysreg_write(ELR_EL1, sysreg_read(ELR_EL2));
    sysreg_write(SPSR_EL1, spsr);
    sysreg_write(ELR_EL2, sysreg_read(VBAR_EL1) + vector);
    sysreg_write(SPSR_EL2, exception_spsr(spsr));
}

void trap_inject_undefined(void)
{
    inject(sysreg_read(SPSR_EL2), ESR_IL);
}

void trap_inject_data_abort(uint64_t address, uint64_t fault_status)
{
    uint64_t spsr = sysreg_read(SPSR_EL2);
    uint64_t class = (spsr & SPSR_MODE_LEVEL) == 0 ? EC_DATA_ABORT_LOWER : EC_DATA_ABORT_SAME;

    sysreg_write(FAR_EL1, address);
    inject(spsr, class << 26 | ESR_IL | ESR_ABORT_CM | ESR_ABORT_WNR | fault_status);
}

/* The fault status does not say whether the access was part of a table walk, because stage 2 does not report
 * the level of stage 1. */
void trap_inject_external_abort(uint64_t esr)
{
    uint64_t spsr = sysreg_read(SPSR_EL2);
    bool same = (spsr & SPSR_MODE_LEVEL) != 0;
    uint64_t class = same ? EC_INSTRUCTION_ABORT_SAME : EC_INSTRUCTION_ABORT_LOWER;
    uint64_t access = 0;

    if (esr_class(esr) == EC_DATA_ABORT_LOWER) {
        class = same ? EC_DATA_ABORT_SAME : EC_DATA_ABORT_LOWER;
        access = esr & (ESR_ABORT_CM | ESR_ABORT_WNR);
    }
    sysreg_write(FAR_EL1, sysreg_read(FAR_EL2));
    inject(spsr, class << 26 | (esr & ESR_IL) | access | ESR_ABORT_EXTERNAL);
}

static void trap_call(struct guest_regs *regs)
{
    hypercall(this_cpu()->vcpu, regs->x);
}

/* Not inlined, so that its caller needs no stack. */
static __attribute__((noinline)) bool call_short(struct cpu *cpu, struct guest_regs *regs)
{
    trap_call(regs);
    return vcpu_may_run(cpu->vcpu) && cpu->hold == 0;
}

bool trap_sync_short(struct guest_regs *regs)
{
    struct cpu *cpu = this_cpu();
    uint64_t esr = sysreg_read(ESR_EL2);

    switch (esr_class(esr)) {
    case EC_HVC64:
        cpu_count_exit(cpu, BH_EXIT_REASON_HVC);
        if (psci_is_version(regs->x[0])) {
            regs->x[0] = PSCI_VERSION_1_1;
            return true;
        }
        return call_short(cpu, regs);
    case EC_DATA_ABORT_LOWER:
        return guest_register_is_volatile(esr_transfer_register(esr)) &&
               trap_data_abort_resolve(cpu, regs, esr);
    case EC_SYSREG:
        if (!guest_register_is_volatile(esr_sysreg_register(esr))) {
            return false;
        }
        return esr_sysreg_is_instruction(esr) ? trap_maintenance(cpu, regs, esr)
                                              : trap_sysreg(cpu, regs, esr);
    case EC_INSTRUCTION_ABORT_LOWER:
        return trap_instruction_abort_resolve(cpu, esr);
    default:
        return false;
    }
}

static void handle_sync(struct cpu *cpu, struct guest_regs *regs)
{
    uint64_t esr = sysreg_read(ESR_EL2);

    switch (esr_class(esr)) {
    case EC_HVC64:
        if (cpu->hold != 0) { /* the short handler has made the VCPU wait */
            break;
        }
        cpu_count_exit(cpu, BH_EXIT_REASON_HVC);
        trap_call(regs);
        break;
    case EC_DATA_ABORT_LOWER:
        if (cpu->hold != 0) { /* as above */
            break;
        }
        trap_data_abort(cpu, regs, esr);
        break;
    case EC_SYSREG:
        if (cpu->hold != 0) { /* the short handler has executed the call, which has spent the budget */
            break;
        }
        if (esr_sysreg_is_instruction(esr)) {
            (void)trap_maintenance(cpu, regs, esr);
        } else {
            (void)trap_sysreg(cpu, regs, esr);
        }
        break;
    case EC_INSTRUCTION_ABORT_LOWER:
        trap_instruction_abort(cpu, regs, esr);
        break;
    case EC_SMC64:
        /* Unlike HVC, a trapped SMC has not been executed: the return address is that of the SMC. */
        cpu_count_exit(cpu, BH_EXIT_REASON_SMC);
        trap_skip_instruction(esr);
        trap_call(regs);
        break;
    case EC_WFX:
        cpu_count_exit(cpu, BH_EXIT_REASON_WFX);
        trap_skip_instruction(esr);
        vgic_guest_waits(cpu);
        if (cpu->shared != NULL) { /* otherwise only vgic_early.c traps WFx */
            shared_core_wait_for_interrupt(cpu);
        }
        break;
    case EC_FP:
    case EC_SVE:
        cpu_count_exit(cpu, BH_EXIT_REASON_FP_TRAP);
        trap_inject_undefined();
        break;
    default:
        cpu_count_exit(cpu, BH_EXIT_REASON_UNEXPECTED);
        trap_inject_undefined();
        break;
    }
}

void trap_sync(struct guest_regs *regs)
{
    struct cpu *cpu = this_cpu();

    /* A call in the short path may have stopped the VCPU; then there is nothing left to handle, and
     * vcpu_settle() turns it off. */
    if (vcpu_may_run(cpu->vcpu)) {
        handle_sync(cpu, regs);
    }
    vcpu_settle(cpu, regs);
}

void trap_settle(struct guest_regs *regs)
{
    vcpu_settle(this_cpu(), regs);
}

void trap_serror(struct guest_regs *regs)
{
    struct cpu *cpu = this_cpu();

    cpu_count_exit(cpu, BH_EXIT_REASON_SERROR);
    domain_crash(cpu, regs, BH_DOMAIN_END_SERROR);
    vcpu_settle(cpu, regs);
}
