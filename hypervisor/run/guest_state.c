/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset of EL1 state, and the traps around guests. Bit positions are those of DDI 0487, D24.2 (HCR_EL2,
 * CPTR_EL2, MDCR_EL2, CNTHCTL_EL2).
 */
#include "run/guest_state.h"
#include "memory/stage2.h"
#include "mpam/mpam_labels.h"
#include "run/guest_debug.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/fp.h>
#include <arch/sysreg.h>

#define HCR_VM     (1ull << 0) /* stage 2 on */
#define HCR_SWIO   (1ull << 1) /* invalidation by set and way also cleans */
#define HCR_PTW    (1ull << 2) /* a guest's table walk to device memory faults */
#define HCR_FMO    (1ull << 3)
#define HCR_IMO    (1ull << 4) /* physical interrupts to EL2, virtual ones to the guest */
#define HCR_AMO    (1ull << 5)
#define HCR_TWI    (1ull << 13) /* WFI: another VCPU may use the core meanwhile */
#define HCR_TID3   (1ull << 18) /* ID registers */
#define HCR_TSC    (1ull << 19) /* SMC */
#define HCR_TIDCP  (1ull << 20) /* implementation-defined registers */
#define HCR_TACR   (1ull << 21) /* auxiliary control */
#define HCR_TSW    (1ull << 22) /* cache maintenance by set and way: affects all domains' lines */
#define HCR_TPU    (1ull << 24) /* cache maintenance to the point of unification: IC, and DC CVAU */
#define HCR_TTLB   (1ull << 25) /* TLBI, including the forms for the own core */
#define HCR_RW     (1ull << 31) /* EL1 is AArch64 */
#define HCR_TLOR   (1ull << 35) /* limited-ordering regions, which are of physical addresses */
#define HCR_TERR   (1ull << 36) /* error records, which belong to the machine */
#define HCR_APK    (1ull << 40) /* no trap of pointer authentication keys */
#define HCR_API    (1ull << 41)
#define HCR_FWB    (1ull << 46) /* stage 2 determines the memory type: its tables are built for that */
/* With FEAT_EVT: traps of only those instructions of TPU and TTLB that are broadcast, and few others */
#define HCR_TICAB  (1ull << 50) /* IC IALLUIS */
#define HCR_TOCU   (1ull << 52) /* all others that TPU traps, including IC IVAU */
#define HCR_TTLBIS (1ull << 54)
#define HCR_TTLBOS (1ull << 55)

/* Bits that are set for every guest. */
#define HCR_COMMON                                                                                           \
    (HCR_VM | HCR_SWIO | HCR_PTW | HCR_FMO | HCR_IMO | HCR_AMO | HCR_TID3 | HCR_TSC | HCR_TIDCP | HCR_TACR | \
     HCR_TSW | HCR_RW | HCR_TLOR | HCR_TERR | HCR_APK | HCR_API)

#define CPTR_RES1 0x32FFull
#define CPTR_TZ   (1ull << 8)  /* SVE (RES1 without it) */
#define CPTR_TTA  (1ull << 20) /* trace registers */
#define CPTR_TAM  (1ull << 30) /* activity monitors */

#define MDCR_TPMCR (1ull << 5)
#define MDCR_TPM   (1ull << 6)  /* performance monitors */
#define MDCR_TDOSA (1ull << 10) /* OS locks: see debug_locks_open() */
#define MDCR_TPMS  (1ull << 14) /* statistical profiling */
#define MDCR_TTRF  (1ull << 19) /* trace filter */

#define CNTHCTL_EL1PCTEN (1ull << 0)
#define CNTHCTL_EL1PCEN  (1ull << 1)

/* Lowest bits of fields of ID registers. */
#define ID_FIELD(value, shift) ((value) >> (shift)&0xF)
#define MMFR0_FGT              56
#define MMFR1_HCX              40
#define MMFR2_EVT              56
#define PFR0_AMU               44
#define ISAR1_ADDRESS_KEYS     (0xFFull << 4) /* APA, API */
#define ISAR1_GENERIC_KEY      (0xFFull << 24)
#define ISAR2_GENERIC_KEY      (0xFull << 8)
#define ISAR2_ADDRESS_KEYS     (0xFull << 12) /* APA3 */

#define SCTLR_EL1_RESET 0x30D00800ull
#define SCTLR_M         (1ull << 0)
#define TCR_EPD0        (1ull << 7)
#define TCR_EPD1        (1ull << 23)
#define MPIDR_RES1      (1ull << 31)

/* Opens the OS locks. While the OS lock is closed, as it is after reset, a guest's breakpoints do not work.
 * With the lock closed, software could also set fields of the external debugger, MDSCR_EL1.HDE above all, and
 * then halt the core, at EL2 too. Therefore guests cannot access the locks. */
static void debug_locks_open(void)
{
    sysreg_write(OSDLR_EL1, 0);
    sysreg_write(OSLAR_EL1, 0);
}

/* Newer cores have more trap registers, whose reset values are unknown. This clears them: nothing is
 * trapped except by the bits above. Features that need an enable bit stay disabled, and the ID registers
 * hide them. */
static void newer_traps_reset(void)
{
    if (ID_FIELD(sysreg_read(ID_AA64MMFR1_EL1), MMFR1_HCX) != 0) {
        sysreg_write(HCRX_EL2, 0);
    }
    if (ID_FIELD(sysreg_read(ID_AA64MMFR0_EL1), MMFR0_FGT) != 0) {
        sysreg_write(HFGRTR_EL2, 0);
        sysreg_write(HFGWTR_EL2, 0);
        sysreg_write(HFGITR_EL2, 0);
        sysreg_write(HDFGRTR_EL2, 0);
        sysreg_write(HDFGWTR_EL2, 0);
        if (ID_FIELD(sysreg_read(ID_AA64PFR0_EL1), PFR0_AMU) != 0) {
            sysreg_write(HAFGRTR_EL2, 0);
        }
    }
}

/* Traps for maintenance that the guest would broadcast, with as few other traps as the core allows. */
static uint64_t maintenance_traps(const struct domain *domain)
{
    uint64_t evt = ID_FIELD(sysreg_read(ID_AA64MMFR2_EL1), MMFR2_EVT);
    uint64_t traps = 0;

    if (domain_has_flag(domain, BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED)) {
        traps |= evt >= 2 ? HCR_TTLBIS | HCR_TTLBOS : HCR_TTLB;
    }
    if (domain_has_flag(domain, BH_DOMAIN_FLAG_CACHES_TRAPPED)) {
        traps |= evt >= 1 ? HCR_TICAB | HCR_TOCU : HCR_TPU;
    }
    return traps;
}

uint64_t guest_hcr(const struct domain *domain, bool shared)
{
    return HCR_COMMON | (shared ? HCR_TWI : 0) | (system_manifest()->platform.s2fwb != 0 ? HCR_FWB : 0) |
           (domain != NULL ? maintenance_traps(domain) : 0);
}

void guest_traps_init(uint64_t monitors, uint64_t hcr)
{
    newer_traps_reset();
    debug_locks_open();
    sysreg_write(HCR_EL2, hcr);
    sysreg_write(CPTR_EL2, CPTR_RES1 | CPTR_TZ | CPTR_TTA | CPTR_TAM);
    sysreg_write(HSTR_EL2, 0);
    sysreg_write(CNTHCTL_EL2, CNTHCTL_EL1PCTEN | CNTHCTL_EL1PCEN);
    sysreg_write(VPIDR_EL2, sysreg_read(MIDR_EL1));
    sysreg_write(MDCR_EL2, MDCR_TPM | MDCR_TPMCR | MDCR_TDOSA | MDCR_TPMS | MDCR_TTRF | monitors);
    arch_isb();
}

bool guest_has_address_keys(void)
{
    return ((sysreg_read(ID_AA64ISAR1_EL1) & ISAR1_ADDRESS_KEYS) |
            (sysreg_read(ID_AA64ISAR2_EL1) & ISAR2_ADDRESS_KEYS)) != 0;
}

bool guest_has_generic_key(void)
{
    return ((sysreg_read(ID_AA64ISAR1_EL1) & ISAR1_GENERIC_KEY) |
            (sysreg_read(ID_AA64ISAR2_EL1) & ISAR2_GENERIC_KEY)) != 0;
}

/* Resets the keys of pointer authentication that the core has. */
static void keys_reset(void)
{
    if (guest_has_address_keys()) {
        sysreg_write(APIAKEYLO_EL1, 0);
        sysreg_write(APIAKEYHI_EL1, 0);
        sysreg_write(APIBKEYLO_EL1, 0);
        sysreg_write(APIBKEYHI_EL1, 0);
        sysreg_write(APDAKEYLO_EL1, 0);
        sysreg_write(APDAKEYHI_EL1, 0);
        sysreg_write(APDBKEYLO_EL1, 0);
        sysreg_write(APDBKEYHI_EL1, 0);
    }
    if (guest_has_generic_key()) {
        sysreg_write(APGAKEYLO_EL1, 0);
        sysreg_write(APGAKEYHI_EL1, 0);
    }
}

/* Keeping EL1's translation off would not suffice, because EL1 could still cause stage-2 walks. Therefore
 * EL1's translation is turned on, with walks of its tables disabled. */
void guest_translation_close(const struct vcpu *vcpu)
{
    sysreg_write(TCR_EL1, sysreg_read(TCR_EL1) | TCR_EPD0 | TCR_EPD1);
    arch_isb();
    sysreg_write(SCTLR_EL1, sysreg_read(SCTLR_EL1) | SCTLR_M);
    arch_isb();
    sysreg_write(VTTBR_EL2, vcpu->domain->stage2.vttbr);
    sysreg_write(VTCR_EL2, vcpu->domain->stage2.vtcr);
    sysreg_write(VMPIDR_EL2, MPIDR_RES1 | vcpu->index);
    mpam_enter(vcpu);
    arch_isb();
}

void guest_translation_open(uint64_t sctlr, uint64_t tcr)
{
    arch_isb(); /* before the next guest's tables and VMID are used */
    sysreg_write(SCTLR_EL1, sctlr);
    arch_isb();
    sysreg_write(TCR_EL1, tcr);
}

void guest_state_reset(const struct vcpu *vcpu)
{
    guest_translation_close(vcpu);
    sysreg_write(CNTVOFF_EL2, 0);
    sysreg_write(CNTV_CTL_EL0, 0);
    sysreg_write(CNTP_CTL_EL0, 0);
    sysreg_write(CNTV_CVAL_EL0, 0);
    sysreg_write(CNTP_CVAL_EL0, 0);
    sysreg_write(CNTKCTL_EL1, 0);
    sysreg_write(CPACR_EL1, 0);
    sysreg_write(TTBR0_EL1, 0);
    sysreg_write(TTBR1_EL1, 0);
    sysreg_write(MAIR_EL1, 0);
    sysreg_write(AMAIR_EL1, 0);
    sysreg_write(VBAR_EL1, 0);
    sysreg_write(ESR_EL1, 0);
    sysreg_write(FAR_EL1, 0);
    sysreg_write(AFSR0_EL1, 0);
    sysreg_write(AFSR1_EL1, 0);
    sysreg_write(PAR_EL1, 0);
    sysreg_write(ELR_EL1, 0);
    sysreg_write(SPSR_EL1, 0);
    sysreg_write(SP_EL0, 0);
    sysreg_write(SP_EL1, 0);
    sysreg_write(TPIDR_EL0, 0);
    sysreg_write(TPIDRRO_EL0, 0);
    sysreg_write(TPIDR_EL1, 0);
    sysreg_write(CONTEXTIDR_EL1, 0);
    sysreg_write(CSSELR_EL1, 0);
    guest_debug_reset();
    keys_reset();
    arch_fp_clear();
    guest_translation_open(SCTLR_EL1_RESET, 0);
    arch_isb();
}
