/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a domain that did what it must not: why, its registers, and whether it is started again. A crash
 * loop fills neither the log that all domains share nor the time of the core that writes it.
 */
#include "run/crash.h"
#include "base/syndrome.h"
#include "console/console.h"
#include "console/vuart.h"
#include "run/domain_life.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <arch/sysreg.h>

#define DUMPS_PER_SECOND 1u

static const char *end_text(enum bh_domain_end end)
{
    switch (end) {
    case BH_DOMAIN_END_STAGE2_DATA_ABORT:
        return "access to an address that it does not own";
    case BH_DOMAIN_END_STAGE2_INSTRUCTION_ABORT:
        return "execution at an address that it does not own";
    case BH_DOMAIN_END_UNDECODABLE_ACCESS:
        return "device access with a paired or write-back instruction, which cannot be emulated";
    case BH_DOMAIN_END_BAD_DEVICE_ACCESS:
        return "device access of a width that the register does not have";
    case BH_DOMAIN_END_SERROR:
        return "asynchronous external abort";
    case BH_DOMAIN_END_EXTERNAL_ABORT:
        return "external abort";
    default:
        return "unexpected exception";
    }
}

/* Guest-physical address of an abort, where there was one. */
static uint64_t fault_ipa(void)
{
    return hpfar_page(sysreg_read(HPFAR_EL2)) | (sysreg_read(FAR_EL2) & 0xFFF);
}

static void dump(const struct vcpu *vcpu, const struct guest_regs *regs, enum bh_domain_end end)
{
    const char *name = vcpu->domain->config->name;

    console_log("%s: crashed on VCPU %u: %s", name, vcpu->index, end_text(end));
    console_log("%s: pc %016lx  esr %08lx  far %016lx  ipa %010lx  spsr %08lx", name, sysreg_read(ELR_EL2),
                sysreg_read(ESR_EL2), sysreg_read(FAR_EL2), fault_ipa(), sysreg_read(SPSR_EL2));
    for (uint32_t i = 0; i < 28; i += 4) {
        console_log("%s: x%u %016lx %016lx %016lx %016lx", name, i, regs->x[i], regs->x[i + 1],
                    regs->x[i + 2], regs->x[i + 3]);
    }
    console_log("%s: x28 %016lx %016lx %016lx  sp_el1 %016lx", name, regs->x[28], regs->x[29], regs->x[30],
                sysreg_read(SP_EL1));
    console_log("%s: sctlr %08lx  tcr %016lx  ttbr0 %016lx  ttbr1 %016lx  vbar %016lx", name,
                sysreg_read(SCTLR_EL1), sysreg_read(TCR_EL1), sysreg_read(TTBR0_EL1), sysreg_read(TTBR1_EL1),
                sysreg_read(VBAR_EL1));
    console_log("%s: esr_el1 %08lx  elr_el1 %016lx  far_el1 %016lx", name, sysreg_read(ESR_EL1),
                sysreg_read(ELR_EL1), sysreg_read(FAR_EL1));
}

static void show(const struct vcpu *vcpu, const struct guest_regs *regs, enum bh_domain_end end)
{
    struct domain *domain = vcpu->domain;
    uint32_t left_out;

    vuart_end_line(domain);
    if (!domain_may_log(domain, &domain->dumps, DUMPS_PER_SECOND, &left_out)) {
        return;
    }
    if (left_out != 0) {
        console_log("%s: crashed %u times more, not shown", domain->config->name, left_out);
    }
    dump(vcpu, regs, end);
}

void domain_crash(struct cpu *cpu, const struct guest_regs *regs, enum bh_domain_end end)
{
    struct domain *domain = cpu->vcpu->domain;
    struct status_domain *status = &system_status()->domains[domain->index];

    status->fault_pc = sysreg_read(ELR_EL2);
    status->fault_syndrome = sysreg_read(ESR_EL2);
    status->fault_address = fault_ipa();
    show(cpu->vcpu, regs, end);
    if (!domain_has_flag(domain, BH_DOMAIN_FLAG_RESTART_ON_FAILURE) || !domain_restart(domain, end)) {
        (void)domain_end(domain, BH_DOMAIN_STATE_CRASHED, end);
    }
}
