/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a domain that has done something that it must not do: records the reason and its registers, and
 * restarts the domain if the manifest says so. A crash loop fills neither the log, which all domains share,
 * nor the time of the core that writes it.
 */
#include "run/crash.h"
#include "base/syndrome.h"
#include "console/console.h"
#include "run/domain_life.h"
#include "run/life_log.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <arch/sysreg.h>
#include <stdatomic.h>
#include <string.h>

#define NS_BETWEEN_DUMPS 1000000000u

/* Guest-physical address of an abort; meaningless for other exceptions. */
static uint64_t fault_ipa(void)
{
    return hpfar_page(sysreg_read(HPFAR_EL2)) | (sysreg_read(FAR_EL2) & 0xFFF);
}

#define REGISTERS_OF_LINE 4u

/* Names of the registers, in the order in which a dump shows them. */
static const char register_names[CRASH_REGISTERS][8] = {
    "pc",    "esr",   "far",    "ipa",    "x0",      "x1",      "x2",      "x3",   "x4",   "x5",
    "x6",    "x7",    "x8",     "x9",     "x10",     "x11",     "x12",     "x13",  "x14",  "x15",
    "x16",   "x17",   "x18",    "x19",    "x20",     "x21",     "x22",     "x23",  "x24",  "x25",
    "x26",   "x27",   "x28",    "x29",    "x30",     "spsr",    "sctlr",   "tcr",  "mair", "vbar",
    "ttbr0", "ttbr1", "sp_el1", "sp_el0", "esr_el1", "elr_el1", "far_el1", "vcpu",
};

static void save_dump(struct crash_dump *dump, const struct vcpu *vcpu, const struct guest_regs *regs)
{
    uint64_t *next = dump->registers;

    *next++ = sysreg_read(ELR_EL2);
    *next++ = sysreg_read(ESR_EL2);
    *next++ = sysreg_read(FAR_EL2);
    *next++ = fault_ipa();
    memcpy(next, regs->x, sizeof regs->x);
    next += sizeof regs->x / sizeof *next;
    *next++ = sysreg_read(SPSR_EL2);
    *next++ = sysreg_read(SCTLR_EL1);
    *next++ = sysreg_read(TCR_EL1);
    *next++ = sysreg_read(MAIR_EL1);
    *next++ = sysreg_read(VBAR_EL1);
    *next++ = sysreg_read(TTBR0_EL1);
    *next++ = sysreg_read(TTBR1_EL1);
    *next++ = sysreg_read(SP_EL1);
    *next++ = sysreg_read(SP_EL0);
    *next++ = sysreg_read(ESR_EL1);
    *next++ = sysreg_read(ELR_EL1);
    *next++ = sysreg_read(FAR_EL1);
    *next++ = vcpu->index;
}

static void print_registers(const char *domain, struct crash_dump *dump)
{
    const char(*names)[8] = &register_names[dump->shown];
    const uint64_t *values = &dump->registers[dump->shown];

    console_log("%s: %s %016lx  %s %016lx  %s %016lx  %s %016lx", domain, names[0], values[0], names[1],
                values[1], names[2], values[2], names[3], values[3]);
    dump->shown += REGISTERS_OF_LINE;
    if (dump->shown == CRASH_REGISTERS) {
        atomic_store_explicit(&dump->is_due, false, memory_order_relaxed);
        atomic_store_explicit(&dump->is_kept, false, memory_order_release);
    }
}

/* Prints the next line about some domain; returns false if there is none. Called on the console core. */
static bool print_next(void)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct domain *domain = domain_at(i);

        if (life_log_print_next(domain)) {
            return true;
        }
        if (atomic_load_explicit(&domain->dump.is_due, memory_order_acquire)) {
            print_registers(domain->config->name, &domain->dump);
            return true;
        }
    }
    return false;
}

void crash_init(void)
{
    console_add_text(print_next);
}

static void save_dump_if_due(const struct vcpu *vcpu, const struct guest_regs *regs)
{
    struct domain *domain = vcpu->domain;
    struct crash_dump *dump = &domain->dump;
    uint64_t now = clock_now();

    spin_lock(&domain->life);
    if (!atomic_load_explicit(&dump->is_kept, memory_order_acquire) && now >= dump->not_before) {
        save_dump(dump, vcpu, regs);
        dump->not_before = now + clock_ticks(NS_BETWEEN_DUMPS);
        dump->shown = 0;
        atomic_store_explicit(&dump->is_kept, true, memory_order_relaxed);
    }
    spin_unlock(&domain->life);
}

void domain_crash(struct cpu *cpu, const struct guest_regs *regs, enum bh_domain_end end)
{
    struct domain *domain = cpu->vcpu->domain;
    struct status_domain *status = &system_status()->domains[domain->index];

    status->fault_pc = sysreg_read(ELR_EL2);
    status->fault_syndrome = sysreg_read(ESR_EL2);
    status->fault_address = fault_ipa();
    save_dump_if_due(cpu->vcpu, regs);
    if (!domain_has_flag(domain, BH_DOMAIN_FLAG_RESTART_ON_FAILURE) || !domain_restart(domain, end)) {
        (void)domain_end(domain, BH_DOMAIN_STATE_CRASHED, end);
    }
}
