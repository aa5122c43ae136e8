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
#include <stdatomic.h>
#include <string.h>

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

/* What a domain had in its registers. A dozen lines in one piece would make others on this core wait. */
struct dump {
    _Atomic bool waits; /* to be printed: until then it is the console core's */
    uint32_t next;      /* line */
    uint64_t x[31];
    uint64_t pc, esr, far, ipa, spsr, sp_el1;
    uint64_t sctlr, tcr, ttbr0, ttbr1, vbar;
    uint64_t esr_el1, elr_el1, far_el1;
};

static struct dump dumps[BH_MAX_DOMAINS];

#define FIRST_LINE_OF_X 1u
#define LINES_OF_X      7u /* of four registers */

static void keep(struct dump *dump, const struct guest_regs *regs)
{
    memcpy(dump->x, regs->x, sizeof dump->x);
    dump->pc = sysreg_read(ELR_EL2);
    dump->esr = sysreg_read(ESR_EL2);
    dump->far = sysreg_read(FAR_EL2);
    dump->ipa = fault_ipa();
    dump->spsr = sysreg_read(SPSR_EL2);
    dump->sp_el1 = sysreg_read(SP_EL1);
    dump->sctlr = sysreg_read(SCTLR_EL1);
    dump->tcr = sysreg_read(TCR_EL1);
    dump->ttbr0 = sysreg_read(TTBR0_EL1);
    dump->ttbr1 = sysreg_read(TTBR1_EL1);
    dump->vbar = sysreg_read(VBAR_EL1);
    dump->esr_el1 = sysreg_read(ESR_EL1);
    dump->elr_el1 = sysreg_read(ELR_EL1);
    dump->far_el1 = sysreg_read(FAR_EL1);
    dump->next = 0;
}

/* False: it was the last line. */
static bool print_line(const char *name, const struct dump *dump)
{
    uint32_t i = (dump->next - FIRST_LINE_OF_X) * 4;

    if (dump->next == 0) {
        console_log("%s: pc %016lx  esr %08lx  far %016lx  ipa %010lx  spsr %08lx", name, dump->pc, dump->esr,
                    dump->far, dump->ipa, dump->spsr);
        return true;
    }
    if (dump->next < FIRST_LINE_OF_X + LINES_OF_X) {
        console_log("%s: x%u %016lx %016lx %016lx %016lx", name, i, dump->x[i], dump->x[i + 1],
                    dump->x[i + 2], dump->x[i + 3]);
        return true;
    }
    switch (dump->next - FIRST_LINE_OF_X - LINES_OF_X) {
    case 0:
        console_log("%s: x28 %016lx %016lx %016lx  sp_el1 %016lx", name, dump->x[28], dump->x[29],
                    dump->x[30], dump->sp_el1);
        return true;
    case 1:
        console_log("%s: sctlr %08lx  tcr %016lx  ttbr0 %016lx  ttbr1 %016lx  vbar %016lx", name, dump->sctlr,
                    dump->tcr, dump->ttbr0, dump->ttbr1, dump->vbar);
        return true;
    default:
        console_log("%s: esr_el1 %08lx  elr_el1 %016lx  far_el1 %016lx", name, dump->esr_el1, dump->elr_el1,
                    dump->far_el1);
        return false;
    }
}

/* The next line of some domain's. On the console core. */
static bool print_next(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct dump *dump = &dumps[i];

        if (atomic_load_explicit(&dump->waits, memory_order_acquire)) {
            bool more = print_line(domain_at(i)->config->name, dump);

            dump->next++;
            atomic_store_explicit(&dump->waits, more, memory_order_release);
            return true;
        }
    }
    return false;
}

void crash_init(void)
{
    memset(dumps, 0, sizeof dumps);
    console_add_text(print_next);
}

static void show(const struct vcpu *vcpu, const struct guest_regs *regs, enum bh_domain_end end)
{
    struct domain *domain = vcpu->domain;
    struct dump *dump = &dumps[domain->index];
    uint32_t left_out;

    vuart_end_line(domain);
    if (!domain_may_log(domain, &domain->dumps, DUMPS_PER_SECOND, &left_out)) {
        return;
    }
    if (left_out != 0) {
        console_log("%s: crashed %u times more, not shown", domain->config->name, left_out);
    }
    if (!atomic_load_explicit(&dump->waits, memory_order_acquire)) {
        keep(dump, regs);
        atomic_store_explicit(&dump->waits, true, memory_order_release);
    }
    console_log("%s: crashed on VCPU %u: %s", domain->config->name, vcpu->index, end_text(end));
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
