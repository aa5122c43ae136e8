/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Fields of a core's MPAM registers (DDI 0487, D24.7), and the label that the registers give to requests: a
 * PARTID and a monitoring group, here always the same for data and instructions.
 */
#ifndef BULKHEAD_CORE_MPAM_LABEL_H
#define BULKHEAD_CORE_MPAM_LABEL_H

#include <stdint.h>

/* ID_AA64PFR0_EL1.MPAM and ID_AA64PFR1_EL1.MPAM_frac: major and minor version */
#define MPAM_PFR0_SHIFT      40
#define MPAM_PFR1_FRAC_SHIFT 16

/* MPAM0_EL1, MPAM1_EL1, MPAM2_EL2 */
#define MPAM_PARTID_I_SHIFT 0
#define MPAM_PARTID_D_SHIFT 16
#define MPAM_PMG_I_SHIFT    32
#define MPAM_PMG_D_SHIFT    40
#define MPAM_LABEL          0xFFFFFFFFFFFFull
#define MPAM_ENABLE         (1ull << 63) /* not in MPAM0_EL1; writable at the highest level only */

/* MPAM2_EL2 */
#define MPAM2_TRAP_MPAM1 (1ull << 48)
#define MPAM2_TRAP_MPAM0 (1ull << 49)
#define MPAM2_TRAP_IDR   (1ull << 58) /* where MPAMIDR_EL1.HAS_TIDR */

/* MPAMHCR_EL2 */
#define MPAMHCR_EL0_VIRTUAL (1ull << 0)
#define MPAMHCR_EL1_VIRTUAL (1ull << 1)
#define MPAMHCR_TRAP_IDR    (1ull << 31)

/* MPAMIDR_EL1 */
#define MPAMIDR_PARTID_MAX     0xFFFFull
#define MPAMIDR_HAS_HCR        (1ull << 17)
#define MPAMIDR_VPMR_MAX_SHIFT 18
#define MPAMIDR_VPMR_MAX       0x7ull
#define MPAMIDR_PMG_MAX_SHIFT  32
#define MPAMIDR_PMG_MAX        0xFFull
#define MPAMIDR_HAS_BW_CTRL    (1ull << 56)
#define MPAMIDR_HAS_TIDR       (1ull << 58)

/* MPAMVPM<n>_EL2: entries of 16 bits */
#define MPAM_VPM_ENTRIES   4u
#define MPAM_VPM_REGISTERS 8u

/* The label bits of MPAM<n>_ELx for both data and instructions. */
static inline uint64_t mpam_label(uint32_t partid, uint32_t pmg)
{
    return (uint64_t)partid << MPAM_PARTID_I_SHIFT | (uint64_t)partid << MPAM_PARTID_D_SHIFT |
           (uint64_t)pmg << MPAM_PMG_I_SHIFT | (uint64_t)pmg << MPAM_PMG_D_SHIFT;
}

/* The number of entries of MPAMVPM<n>_EL2, from MPAMIDR_EL1; 0: the core maps no virtual PARTIDs. */
static inline uint32_t mpam_virtual_entries(uint64_t mpamidr)
{
    return (mpamidr & MPAMIDR_HAS_HCR) == 0
               ? 0
               : MPAM_VPM_ENTRIES * (uint32_t)((mpamidr >> MPAMIDR_VPMR_MAX_SHIFT & MPAMIDR_VPMR_MAX) + 1);
}

#endif
