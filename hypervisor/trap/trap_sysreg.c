/* SPDX-License-Identifier: Apache-2.0
 *
 * Trapped system registers: ID registers are masked, software-generated interrupts are virtual, and registers
 * that a guest does not have are undefined, as its ID registers say.
 */
#include "base/syndrome.h"
#include "mpam/mpam_labels.h"
#include "time/guest_pmu.h"
#include "trap/id_registers.h"
#include "trap/trap.h"
#include "vgic/vgic_model.h"

#define DFR0       SYSREG_ENCODING(3u, 0u, 0u, 5u, 0u) /* ID_AA64DFR0_EL1 */
#define ACTLR_EL1  SYSREG_ENCODING(3u, 0u, 1u, 0u, 1u)
#define OSLAR_EL1  SYSREG_ENCODING(2u, 0u, 1u, 0u, 4u)
#define OSLSR_EL1  SYSREG_ENCODING(2u, 0u, 1u, 1u, 4u)
#define OSDLR_EL1  SYSREG_ENCODING(2u, 0u, 1u, 3u, 4u)
#define MPAMIDR    SYSREG_ENCODING(3u, 0u, 10u, 4u, 4u)
#define DBGPRCR    SYSREG_ENCODING(2u, 0u, 1u, 4u, 4u)
#define OSLSR_OPEN 0x8u /* implemented and unlocked */

/* PMCR_EL0 ... PMCCFILTR_EL0 and the interrupt enables: op1 = 3, CRn = 9 or 14 (CRm >= 8); op1 = 0, CRn = 9,
 * CRm = 14. */
static bool is_pmu_register(uint32_t encoding)
{
    uint32_t op0_op1_crn = encoding >> 7;
    uint32_t crm = (encoding >> 3) & 15u;

    return (op0_op1_crn == SYSREG_ENCODING(3u, 3u, 9u, 0u, 0u) >> 7 && crm >= 12) ||
           (op0_op1_crn == SYSREG_ENCODING(3u, 3u, 14u, 0u, 0u) >> 7 && crm >= 8) ||
           (op0_op1_crn == SYSREG_ENCODING(3u, 0u, 9u, 0u, 0u) >> 7 && crm == 14);
}

static bool is_debug_register(uint32_t encoding)
{
    return encoding >> 14 == 2;
}

/* The locks of the debug registers exist, are open, and cannot be closed. */
static bool is_debug_lock(uint32_t encoding)
{
    return encoding == OSLAR_EL1 || encoding == OSLSR_EL1 || encoding == OSDLR_EL1 || encoding == DBGPRCR;
}

static void undefined(struct cpu *cpu, enum bh_exit_reason reason)
{
    cpu_count_exit(cpu, reason);
    trap_inject_undefined();
}

/* Adds the performance monitors to ID_AA64DFR0_EL1. This and the next two functions are not inlined, so that
 * the common paths stay short. */
static __attribute__((noinline)) void add_monitors(const struct cpu *cpu, struct guest_regs *regs,
                                                   uint32_t reg)
{
    set_guest_register(regs, reg, guest_register(regs, reg) | guest_pmu_dfr0(cpu->vcpu));
}

/* Registers that no guest has, except MPAMIDR_EL1 for guests with virtual PARTIDs. */
static __attribute__((noinline)) bool access_other(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    uint64_t value;

    if (esr_sysreg_encoding(esr) == MPAMIDR && esr_sysreg_is_read(esr) && mpam_guest_ids(cpu->vcpu, &value)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_OTHER_REGISTER);
        set_guest_register(regs, esr_sysreg_register(esr), value);
        trap_skip_instruction(esr);
    } else {
        undefined(cpu, BH_EXIT_REASON_OTHER_REGISTER);
    }
    return true;
}

/* Returns false if the guest has no such register. */
static __attribute__((noinline)) bool access_monitors(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    uint32_t reg = esr_sysreg_register(esr);
    uint64_t value = guest_register(regs, reg);

    if (!guest_pmu_access(cpu->vcpu, esr_sysreg_encoding(esr), !esr_sysreg_is_read(esr), &value)) {
        return false;
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_PMU_REGISTER);
    if (esr_sysreg_is_read(esr)) {
        set_guest_register(regs, reg, value);
    }
    return true;
}

bool trap_sysreg(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    uint32_t encoding = esr_sysreg_encoding(esr);
    uint32_t reg = esr_sysreg_register(esr);
    bool read = esr_sysreg_is_read(esr);
    uint64_t value = read ? 0 : guest_register(regs, reg);

    if (vgic_sysreg_access(cpu->vcpu, encoding, !read, &value)) {
        if (read) {
            set_guest_register(regs, reg, value);
        }
    } else if (read && is_id_register(encoding)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_ID_REGISTER);
        set_guest_register(regs, reg, id_register_value(encoding));
        if (encoding == DFR0) {
            add_monitors(cpu, regs, reg);
        }
    } else if (encoding == ACTLR_EL1) {
        cpu_count_exit(cpu, BH_EXIT_REASON_OTHER_REGISTER);
        if (read) {
            set_guest_register(regs, reg, 0);
        }
    } else if (is_debug_lock(encoding)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_DEBUG_REGISTER);
        if (read) {
            set_guest_register(regs, reg, encoding == OSLSR_EL1 ? OSLSR_OPEN : 0);
        }
    } else if (is_pmu_register(encoding)) {
        if (!domain_has_flag(cpu->vcpu->domain, BH_DOMAIN_FLAG_PMU) || !access_monitors(cpu, regs, esr)) {
            undefined(cpu, BH_EXIT_REASON_PMU_REGISTER);
            return true;
        }
    } else if (is_debug_register(encoding)) {
        undefined(cpu, BH_EXIT_REASON_DEBUG_REGISTER);
        return true;
    } else {
        return access_other(cpu, regs, esr);
    }
    trap_skip_instruction(esr);
    return true;
}
