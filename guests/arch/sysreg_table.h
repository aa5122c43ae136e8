// SPDX-License-Identifier: Apache-2.0
//
// Every system register that a guest's C code touches: name and encoding. Each backend of <arch/sysreg.h>
// defines the SYSREG macros and includes this table, so no guard: it is meant to be included repeatedly.
// The GIC's registers are given by encoding, because not every assembler knows their names.

SYSREG(CNTV_CTL_EL0, "cntv_ctl_el0")
SYSREG(CNTV_CVAL_EL0, "cntv_cval_el0")
SYSREG(VBAR_EL1, "vbar_el1")
SYSREG(CPACR_EL1, "cpacr_el1")
SYSREG(PMCR_EL0, "pmcr_el0")
SYSREG(PMCNTENSET_EL0, "pmcntenset_el0")
SYSREG(PMEVTYPER0_EL0, "pmevtyper0_el0")
SYSREG(PMEVCNTR0_EL0, "pmevcntr0_el0")
SYSREG(ICC_SRE_EL1, "s3_0_c12_c12_5")
SYSREG_READ_ONLY(MPIDR_EL1, "mpidr_el1")
SYSREG_READ_ONLY(ID_AA64PFR0_EL1, "id_aa64pfr0_el1")
SYSREG_READ_ONLY(CTR_EL0, "ctr_el0")
SYSREG_READ_ONLY(TPIDR_EL1, "tpidr_el1")
SYSREG_READ_ONLY(ESR_EL1, "esr_el1")
SYSREG_READ_ONLY(FAR_EL1, "far_el1")
SYSREG_READ_ONLY(CNTFRQ_EL0, "cntfrq_el0")
SYSREG_READ_ONLY(CNTVCT_EL0, "cntvct_el0")
SYSREG_READ_ONLY(ICC_IAR1_EL1, "s3_0_c12_c12_0")
SYSREG_WRITE_ONLY(ICC_EOIR1_EL1, "s3_0_c12_c12_1")
SYSREG_WRITE_ONLY(ICC_BPR1_EL1, "s3_0_c12_c12_3")
SYSREG_WRITE_ONLY(ICC_CTLR_EL1, "s3_0_c12_c12_4")
SYSREG_WRITE_ONLY(ICC_IGRPEN1_EL1, "s3_0_c12_c12_7")
SYSREG_WRITE_ONLY(ICC_PMR_EL1, "s3_0_c4_c6_0")
SYSREG_WRITE_ONLY(ICC_SGI1R_EL1, "s3_0_c12_c11_5")
