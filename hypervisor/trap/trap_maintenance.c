/* SPDX-License-Identifier: Apache-2.0
 *
 * Maintenance of translations and caches that a guest may not do itself: EL2 executes it for the guest. If
 * all VCPUs of the domain are on this core, none of it leaves the core. Otherwise it is broadcast to all
 * cores as the guest has requested, counted, and charged to the domain's budget (T5). Except for nXS forms
 * and maintenance of single cache lines, EL2 does not wait for completion, because the guest's own barrier
 * does. Maintenance by set and way does nothing.
 */
#include "base/syndrome.h"
#include "run/charge.h"
#include "run/guest_translation.h"
#include "run/loader.h"
#include "trap/trap.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/maintenance.h>
#include <arch/sysreg.h>

#define DC_ISW     SYSREG_ENCODING(1u, 0u, 7u, 6u, 2u)
#define DC_CSW     SYSREG_ENCODING(1u, 0u, 7u, 10u, 2u)
#define DC_CISW    SYSREG_ENCODING(1u, 0u, 7u, 14u, 2u)
#define DC_CVAU    SYSREG_ENCODING(1u, 3u, 7u, 11u, 1u)
#define IC_IALLUIS SYSREG_ENCODING(1u, 0u, 7u, 1u, 0u)
#define IC_IALLU   SYSREG_ENCODING(1u, 0u, 7u, 5u, 0u)
#define IC_IVAU    SYSREG_ENCODING(1u, 3u, 7u, 5u, 1u)

/* TLBI in the syndrome: op0 = 1, op1 = 0, CRn = 8, or 9 for the nXS form, a write. */
#define ESR_TLBI_MASK (3ull << 20 | 7ull << 14 | 14ull << 10 | 1)
#define ESR_TLBI      (1ull << 20 | 8ull << 10)
#define ESR_CRN_ODD   (1ull << 10)

#define PLACE(crm, op2) ((crm) << 3 | (op2))
#define RARE_CRM        0x66u /* bit n: not every core has the forms with CRm = n */
#define FIRST_OWN_CRM   6u    /* CRm of the forms for the own core only */

#define ATTR_NORMAL   0xF0ull         /* attribute in PAR_EL1; zero: device memory */
#define CTR_POLICY(x) ((x) >> 14 & 3) /* CTR_EL0.L1Ip */
#define POLICY_PIPT   3u

/* ID_AA64ISAR0_EL1.TLB: 1 outer shareable forms, 2 ranges too; ID_AA64ISAR1_EL1.XS: nXS forms */
#define FEATURE(id) ((id) >> 56 & 0xF)

/* True if the maintenance that the guest has requested leaves this core. Counts the exit. */
static bool leaves_core(struct cpu *cpu, bool broadcast, enum bh_exit_reason here,
                        enum bh_exit_reason everywhere)
{
    bool leaves = broadcast && cpu->vcpu->domain->spread;

    cpu_count_exit(cpu, leaves ? everywhere : here);
    return leaves;
}

/* True if the core has the instruction. Not every core has outer shareable forms, ranges (CRm 1, 2, 5, 6) and
 * nXS forms. */
static __attribute__((noinline)) bool core_has(uint32_t crm, bool nxs)
{
    uint64_t needed = crm == 1 ? 1 : (RARE_CRM >> crm & 1) != 0 ? 2 : 0;

    return FEATURE(sysreg_read(ID_AA64ISAR0_EL1)) >= needed &&
           (!nxs || FEATURE(sysreg_read(ID_AA64ISAR1_EL1)) != 0);
}

/* Executes the TLBI with this CRm and op2. Outer shareable forms are executed as inner shareable, because all
 * cores of the domain are in the inner domain and no guest has other agents. Returns false if there is no
 * such instruction. */
static inline bool execute_tlbi(uint32_t place, bool everywhere, uint64_t operand)
{
    switch (place) {
#define EXECUTE_BY_PLACE(name, own, inner, outer, op2, register)                                             \
    case PLACE(own##u, op2##u):                                                                              \
    case PLACE(inner##u, op2##u):                                                                            \
    case PLACE(outer##u, op2##u):                                                                            \
        arch_tlbi(TLBI_##name, everywhere, operand);                                                         \
        return true;
        TLBI_FORMS(EXECUTE_BY_PLACE)
#undef EXECUTE_BY_PLACE
    default:
        return false;
    }
}

/* Returns false if there is no such instruction. */
static bool invalidate_translations(struct cpu *cpu, uint64_t esr, uint64_t operand)
{
    uint32_t crm = esr_sysreg_crm(esr);
    bool nxs = (esr & ESR_CRN_ODD) != 0;
    bool broadcast = crm < FIRST_OWN_CRM;

    if (((RARE_CRM >> crm & 1) != 0 || nxs) && !core_has(crm, nxs)) {
        return false;
    }
    if (!execute_tlbi(PLACE(crm, esr_sysreg_op2(esr)), broadcast && cpu->vcpu->domain->spread, operand)) {
        return false;
    }
    if (nxs) { /* the guest's DSB nXS does not wait for the instruction that was executed instead */
        arch_dsb_sy();
    }
    if (leaves_core(cpu, broadcast, BH_EXIT_REASON_TLB_MAINTENANCE, BH_EXIT_REASON_TLB_BROADCAST)) {
        charge_events(cpu, system_manifest()->platform.broadcast_events);
    }
    return true;
}

static void invalidate_instructions(struct cpu *cpu, bool broadcast)
{
    bool everywhere =
        leaves_core(cpu, broadcast, BH_EXIT_REASON_CACHE_MAINTENANCE, BH_EXIT_REASON_CACHE_BROADCAST);

    arch_icache_invalidate(everywhere);
    if (everywhere) {
        charge_events(cpu, system_manifest()->platform.broadcast_icache_events);
    }
}

/* Finds the physical address of the byte that the guest names. Returns false if there is nothing to maintain,
 * because the memory was never written, or, with *status not 0, if the guest's own tables do not permit the
 * access. */
static bool find_line(uint64_t address, paddr_t *line, uint64_t *status)
{
    uint64_t par = guest_translation(address);

    *status = 0;
    if ((par & PAR_FAILED) != 0) {
        *status = (par & PAR_STAGE2) != 0 ? 0 : PAR_STATUS(par);
        return false;
    }
    *line = par_address(par, address);
    return (par >> PAR_ATTR_SHIFT & ATTR_NORMAL) != 0;
}

/* Maintains the line at the guest's address, to the point of unification. Returns false if the guest gets an
 * exception instead. */
static bool maintain_line(uint64_t address, bool instructions)
{
    paddr_t line;
    uint64_t status;

    if (find_line(address, &line, &status)) {
        loader_maintain_line(line, instructions);
    } else if (status != 0) {
        trap_inject_data_abort(address, status);
        return false;
    }
    return true;
}

static bool clean_line(struct cpu *cpu, uint64_t address)
{
    cpu_count_exit(cpu, BH_EXIT_REASON_CACHE_MAINTENANCE);
    return maintain_line(address, false);
}

/* No instruction invalidates one line in the caches of only the own core. If the instruction cache is indexed
 * by virtual address, EL2's address of the line may not select the guest's entry. In both cases the whole
 * instruction cache is invalidated. */
static bool invalidate_instruction_line(struct cpu *cpu, uint64_t address)
{
    if (!cpu->vcpu->domain->spread || CTR_POLICY(sysreg_read(CTR_EL0)) != POLICY_PIPT) {
        invalidate_instructions(cpu, true);
        return true;
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_CACHE_BROADCAST);
    if (!maintain_line(address, true)) {
        return false;
    }
    charge_events(cpu, system_manifest()->platform.broadcast_events);
    return true;
}

static void undefined(struct cpu *cpu)
{
    cpu_count_exit(cpu, BH_EXIT_REASON_OTHER_REGISTER);
    trap_inject_undefined();
}

/* Returns false if the guest gets an exception instead. */
static __attribute__((noinline)) bool maintain_caches(struct cpu *cpu, uint32_t encoding, uint64_t operand)
{
    switch (encoding) {
    case DC_ISW:
    case DC_CSW:
    case DC_CISW:
        cpu_count_exit(cpu, BH_EXIT_REASON_CACHE_SET_WAY);
        return true;
    case DC_CVAU:
        return clean_line(cpu, operand);
    case IC_IALLU:
    case IC_IALLUIS:
        invalidate_instructions(cpu, encoding == IC_IALLUIS);
        return true;
    case IC_IVAU:
        return invalidate_instruction_line(cpu, operand);
    default:
        undefined(cpu);
        return false;
    }
}

bool trap_maintenance(struct cpu *cpu, const struct guest_regs *regs, uint64_t esr)
{
    uint64_t operand = guest_register(regs, esr_sysreg_register(esr));

    if ((esr & ESR_TLBI_MASK) == ESR_TLBI) {
        if (invalidate_translations(cpu, esr, operand)) {
            trap_skip_instruction(esr);
        } else {
            undefined(cpu);
        }
    } else if (esr_sysreg_is_read(esr)) { /* SYSL: no such instruction returns a value */
        undefined(cpu);
    } else if (maintain_caches(cpu, esr_sysreg_encoding(esr), operand)) {
        trap_skip_instruction(esr);
    }
    return cpu->hold == 0;
}
