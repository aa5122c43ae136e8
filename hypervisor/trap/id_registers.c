/* SPDX-License-Identifier: Apache-2.0
 *
 * Masked ID registers. A feature is hidden if using it would trap without a handler, or would reach beyond
 * the guest: performance monitors, SVE, SME, MPAM, AMU, RAS error records, MTE tags, trace, profiling. Guests
 * with virtual PARTIDs see MPAM; trap_sysreg.c adds the monitors for guests that have them.
 */
#include "trap/id_registers.h"
#include "base/syndrome.h"
#include "mpam/mpam_labels.h"
#include "vm/cpu.h"
#include <arch/sysreg.h>

#define FIELD(shift) (0xFull << (shift))

/* ID_AA64PFR0_EL1: EL3 (15:12), RAS, SVE, SEL2, MPAM, AMU, RME. EL2 stays visible: without it, EL1 would be
 * the highest level, at which software writes CNTFRQ_EL0, and no trap catches that. */
#define PFR0_HIDDEN     (FIELD(12) | FIELD(28) | FIELD(32) | FIELD(36) | FIELD(40) | FIELD(44) | FIELD(52))
/* CSV2 is reported as at most 1: SCXTNUM_ELx, which 2 implies, traps. */
#define PFR0_CSV2_SHIFT 56
/* ID_AA64PFR1_EL1: BT and SSBS stay visible; MTE, SME, NMI, GCS and future features need support by EL2 */
#define PFR1_HIDDEN     (~(FIELD(0) | FIELD(4)))
/* ID_AA64DFR0_EL1: TraceVer, PMUVer, PMSVer, TraceFilt, TraceBuffer, MTPMU, BRBE */
#define DFR0_HIDDEN     (FIELD(4) | FIELD(8) | FIELD(32) | FIELD(40) | FIELD(44) | FIELD(48) | FIELD(52))
/* ID_AA64ISAR0_EL1: TME */
#define ISAR0_HIDDEN    FIELD(24)
/* ID_AA64ISAR1_EL1: LS64; the other features concern only EL0 and EL1 */
#define ISAR1_HIDDEN    FIELD(60)
/* ID_AA64ISAR2_EL1: MOPS, SYSREG_128 and SYSINSTR_128 need HCRX_EL2 */
#define ISAR2_HIDDEN    (FIELD(16) | FIELD(32) | FIELD(36))
/* ID_AA64MMFR1_EL1: VH, LO, HCX, TIDCP1; PAN and hardware access flags stay */
#define MMFR1_HIDDEN    (FIELD(8) | FIELD(16) | FIELD(40) | FIELD(52))
/* ID_AA64MMFR2_EL1: NV, FWB, EVT */
#define MMFR2_HIDDEN    (FIELD(24) | FIELD(40) | FIELD(56))
/* ID_DFR0_EL1: CopTrc, MMapTrc, PerfMon, TraceFilt */
#define DFR0_A32_HIDDEN (FIELD(12) | FIELD(16) | FIELD(24) | FIELD(28))
/* ID_PFR0_EL1: AMU, RAS */
#define PFR0_A32_HIDDEN (FIELD(20) | FIELD(28))
/* ID_PFR1_EL1: Security, Virtualization */
#define PFR1_A32_HIDDEN (FIELD(4) | FIELD(12))

#define ID_ENCODING(crm, op2) SYSREG_ENCODING(3u, 0u, 0u, crm, op2)

static uint64_t masked_pfr0(uint64_t value)
{
    uint64_t csv2 = value >> PFR0_CSV2_SHIFT & 0xF;

    value &= ~(PFR0_HIDDEN | FIELD(PFR0_CSV2_SHIFT));
    return csv2 != 0 ? value | 1ull << PFR0_CSV2_SHIFT : value;
}

bool is_id_register(uint32_t encoding)
{
    return encoding >= ID_ENCODING(1u, 0u) && encoding <= ID_ENCODING(7u, 7u);
}

uint64_t id_register_value(uint32_t encoding)
{
    switch (encoding) {
    case ID_ENCODING(1u, 0u):
        return sysreg_read(ID_PFR0_EL1) & ~PFR0_A32_HIDDEN;
    case ID_ENCODING(1u, 1u):
        return sysreg_read(ID_PFR1_EL1) & ~PFR1_A32_HIDDEN;
    case ID_ENCODING(1u, 2u):
        return sysreg_read(ID_DFR0_EL1) & ~DFR0_A32_HIDDEN;
    case ID_ENCODING(1u, 3u):
        return sysreg_read(ID_AFR0_EL1);
    case ID_ENCODING(1u, 4u):
        return sysreg_read(ID_MMFR0_EL1);
    case ID_ENCODING(1u, 5u):
        return sysreg_read(ID_MMFR1_EL1);
    case ID_ENCODING(1u, 6u):
        return sysreg_read(ID_MMFR2_EL1);
    case ID_ENCODING(1u, 7u):
        return sysreg_read(ID_MMFR3_EL1);
    case ID_ENCODING(2u, 0u):
        return sysreg_read(ID_ISAR0_EL1);
    case ID_ENCODING(2u, 1u):
        return sysreg_read(ID_ISAR1_EL1);
    case ID_ENCODING(2u, 2u):
        return sysreg_read(ID_ISAR2_EL1);
    case ID_ENCODING(2u, 3u):
        return sysreg_read(ID_ISAR3_EL1);
    case ID_ENCODING(2u, 4u):
        return sysreg_read(ID_ISAR4_EL1);
    case ID_ENCODING(2u, 5u):
        return sysreg_read(ID_ISAR5_EL1);
    case ID_ENCODING(2u, 6u):
        return sysreg_read(ID_MMFR4_EL1);
    case ID_ENCODING(2u, 7u):
        return sysreg_read(ID_ISAR6_EL1);
    case ID_ENCODING(3u, 0u):
        return sysreg_read(MVFR0_EL1);
    case ID_ENCODING(3u, 1u):
        return sysreg_read(MVFR1_EL1);
    case ID_ENCODING(3u, 2u):
        return sysreg_read(MVFR2_EL1);
    case ID_ENCODING(3u, 4u):
        return sysreg_read(ID_PFR2_EL1);
    case ID_ENCODING(4u, 0u):
        return masked_pfr0(sysreg_read(ID_AA64PFR0_EL1)) | mpam_id_fields(this_cpu()->vcpu, encoding);
    case ID_ENCODING(4u, 1u):
        return (sysreg_read(ID_AA64PFR1_EL1) & ~PFR1_HIDDEN) | mpam_id_fields(this_cpu()->vcpu, encoding);
    case ID_ENCODING(5u, 0u):
        return sysreg_read(ID_AA64DFR0_EL1) & ~DFR0_HIDDEN;
    case ID_ENCODING(6u, 0u):
        return sysreg_read(ID_AA64ISAR0_EL1) & ~ISAR0_HIDDEN;
    case ID_ENCODING(6u, 1u):
        return sysreg_read(ID_AA64ISAR1_EL1) & ~ISAR1_HIDDEN;
    case ID_ENCODING(6u, 2u):
        return sysreg_read(ID_AA64ISAR2_EL1) & ~ISAR2_HIDDEN;
    case ID_ENCODING(7u, 0u):
        return sysreg_read(ID_AA64MMFR0_EL1);
    case ID_ENCODING(7u, 1u):
        return sysreg_read(ID_AA64MMFR1_EL1) & ~MMFR1_HIDDEN;
    case ID_ENCODING(7u, 2u):
        return sysreg_read(ID_AA64MMFR2_EL1) & ~MMFR2_HIDDEN;
    default:
        return 0; /* unallocated, or of features that are hidden */
    }
}
