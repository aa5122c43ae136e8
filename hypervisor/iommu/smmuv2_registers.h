/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of an SMMUv2 that the driver uses (IHI 0062), with those of the SMMU-500 (DDI 0517) that the
 * architecture leaves to it, and what the driver's files share. Global register space 0 is at offset 0, space
 * 1 is the next page; each context bank is a page in the upper half.
 */
#ifndef BULKHEAD_SMMUV2_REGISTERS_H
#define BULKHEAD_SMMUV2_REGISTERS_H

#include "iommu/smmu_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Global register space 0. */
#define SMMU_SCR0         0x000u
#define SMMU_SCR2         0x008u
#define SMMU_SACR         0x010u
#define SMMU_IDR0         0x020u
#define SMMU_IDR1         0x024u
#define SMMU_IDR2         0x028u
#define SMMU_SGFAR        0x040u /* 64 bits, as two words */
#define SMMU_SGFSR        0x048u
#define SMMU_SGFSYNR0     0x050u
#define SMMU_SGFSYNR1     0x054u
#define SMMU_TLBIVMID     0x064u
#define SMMU_TLBIALLNSNH  0x068u
#define SMMU_TLBIALLH     0x06Cu
#define SMMU_STLBGSYNC    0x070u
#define SMMU_STLBGSTATUS  0x074u
#define SMMU_SMR(n)       (0x800u + 4 * (n))
#define SMMU_S2CR(n)      (0xC00u + 4 * (n))
/* Global register space 1. */
#define SMMU_CBAR(n)      (0x000u + 4 * (n))
#define SMMU_CBFRSYNRA(n) (0x400u + 4 * (n))
#define SMMU_CBA2R(n)     (0x800u + 4 * (n))
/* A context bank. */
#define SMMU_CB_SCTLR     0x00u
#define SMMU_CB_ACTLR     0x04u
#define SMMU_CB_TTBR0     0x20u /* 64 bits, as two words */
#define SMMU_CB_TCR       0x30u
#define SMMU_CB_FSR       0x58u
#define SMMU_CB_FAR       0x60u /* 64 bits, as two words */
#define SMMU_CB_FSYNR0    0x68u

#define SCR0_GFRE             (1u << 1) /* global faults abort */
#define SCR0_GFIE             (1u << 2) /* and interrupt */
#define SCR0_GCFGFRE          (1u << 4) /* the same for faults of configuration accesses */
#define SCR0_GCFGFIE          (1u << 5)
#define SCR0_STALLD           (1u << 8)  /* no fault stalls */
#define SCR0_USFCFG           (1u << 10) /* a stream without an entry is a fault, and does not bypass */
#define SCR0_VMIDPNE          (1u << 11) /* VMIDs are the SMMU's own: cores' broadcast TLB maintenance */
#define SCR0_PTM              (1u << 12) /* has no effect here */
#define SCR0_SMCFCFG          (1u << 21) /* a stream with two entries is a fault */
#define SACR_CACHE_LOCK       (1u << 26) /* of an SMMU-500, from r2 on: writes of ACTLR are ignored */
#define SACR_BYPASSES         (1u << 10 | 1u << 8) /* of an SMMU-500: bypasses are cached in TLBs */
#define ACTLR_CPRE            (1u << 1)            /* of an SMMU-500: prefetch of the next page */
#define IDR0_S2TS             (1u << 29)
#define IDR0_SMS              (1u << 27)
#define IDR0_CTTW             (1u << 14)
#define IDR0_NUMSIDB(idr0)    ((idr0) >> 9 & 0xFu)
#define IDR0_NUMSMRG(idr0)    ((idr0)&0xFFu)
#define IDR1_PAGE_LOG2(idr1)  ((idr1) >> 31 != 0 ? 16u : 12u)
#define IDR1_PAGES(idr1)      (2u << ((idr1) >> 28 & 7u)) /* of each half */
#define IDR1_NUMCB(idr1)      ((idr1)&0xFFu)
#define IDR2_PTFS_4K          (1u << 12)
#define IDR2_IAS(idr2)        ((idr2)&0xFu)
#define IDR2_OAS(idr2)        ((idr2) >> 4 & 0xFu)
#define SMR_VALID             (1u << 31) /* no bit of the mask: one stream */
#define S2CR_FAULT            (2u << 16) /* otherwise translation by the context bank in the low bits */
#define CBA2R_VA64            (1u << 0)
#define SCTLR_M               (1u << 0)
#define SCTLR_AFE             (1u << 2)
#define SCTLR_CFRE            (1u << 5)
#define SCTLR_CFIE            (1u << 6)
#define SCTLR_HUPCF           (1u << 8) /* accesses after a fault go on as if there had been none */
#define FAULT_MULTI           (1u << 31)
#define SGFSR_CAUSES          0x1FFu
#define SGFSR_ICF             (1u << 0) /* stream whose entry says fault */
#define SGFSR_USF             (1u << 1) /* stream without an entry */
#define SGFSYNR0_WNR          (1u << 1)
#define SGFSYNR1_STREAM(syn1) ((syn1)&0x7FFFu)
#define FSR_CAUSES            0x1FEu /* the other bits: the format of the tables, stall, MULTI */
#define FSR_TF                (1u << 1)
#define FSR_AFF               (1u << 2)
#define FSR_PF                (1u << 3)
#define FSR_ASF               (1u << 7)
#define FSYNR0_WNR            (1u << 4)

/* smmuv2.c. A register of global register space 1, and one of context bank `bank`. */
uint32_t smmu_space1(uint32_t offset);
uint32_t smmu_bank(uint32_t bank, uint32_t offset);
/* The number of context banks in use: those from 0 on. */
uint32_t smmu_bank_count(void);
/* The index of the domain that uses a bank in use. */
uint32_t smmu_bank_domain(uint32_t bank);

/* smmuv2_faults.c. Forgets what has been logged. */
void smmu_faults_init(void);

#ifdef __cplusplus
}
#endif

#endif
