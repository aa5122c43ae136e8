/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Registers of an MPAM memory-system component's feature page: offsets, fields, error codes. Names and values
 * are those of Arm's MPAM system component specification (IHI 0099) and of its register pages (DDI 0601).
 * Drivers, the simulated component and decoders of dumps use the same names.
 */
#ifndef BULKHEAD_CORE_MPAM_REGISTERS_H
#define BULKHEAD_CORE_MPAM_REGISTERS_H

#include <stdint.h>

/* Size of a feature page that includes bitmaps of bandwidth portions (at 0x2000). */
#define MPAM_PAGE_BYTES 0x3000u

/* ID registers, and errors. */
#define MPAMF_IDR            0x0000u /* 64 bits where EXT is 1 */
#define MPAMF_IIDR           0x0018u
#define MPAMF_AIDR           0x0020u
#define MPAMF_IMPL_IDR       0x0028u
#define MPAMF_CPOR_IDR       0x0030u
#define MPAMF_CCAP_IDR       0x0038u
#define MPAMF_MBW_IDR        0x0040u
#define MPAMF_PRI_IDR        0x0048u
#define MPAMF_PARTID_NRW_IDR 0x0050u
#define MPAMF_MSMON_IDR      0x0080u
#define MPAMF_CSUMON_IDR     0x0088u
#define MPAMF_MBWUMON_IDR    0x0090u
#define MPAMF_ECR            0x00F0u
#define MPAMF_ESR            0x00F8u

/* Controls of the partition and the resource instance that PART_SEL names. */
#define MPAMCFG_PART_SEL      0x0100u
#define MPAMCFG_CMAX          0x0108u
#define MPAMCFG_CMIN          0x0110u
#define MPAMCFG_CASSOC        0x0118u
#define MPAMCFG_MBW_MIN       0x0200u
#define MPAMCFG_MBW_MAX       0x0208u
#define MPAMCFG_MBW_WINWD     0x0220u
#define MPAMCFG_EN            0x0300u
#define MPAMCFG_DIS           0x0310u
#define MPAMCFG_EN_FLAGS      0x0320u
#define MPAMCFG_PRI           0x0400u
#define MPAMCFG_MBW_PROP      0x0500u
#define MPAMCFG_INTPARTID     0x0600u
#define MPAMCFG_CPBM(word)    (0x1000u + 4u * (word))
#define MPAMCFG_MBW_PBM(word) (0x2000u + 4u * (word))

/* Registers of the monitor that MON_SEL names. */
#define MSMON_CFG_MON_SEL    0x0800u
#define MSMON_CAPT_EVNT      0x0808u
#define MSMON_CFG_CSU_FLT    0x0810u
#define MSMON_CFG_CSU_CTL    0x0818u
#define MSMON_CFG_MBWU_FLT   0x0820u
#define MSMON_CFG_MBWU_CTL   0x0828u
#define MSMON_CSU            0x0840u
#define MSMON_CSU_CAPTURE    0x0848u
#define MSMON_CSU_OFSR       0x0858u
#define MSMON_MBWU           0x0860u
#define MSMON_MBWU_CAPTURE   0x0868u
#define MSMON_MBWU_L         0x0880u
#define MSMON_MBWU_L_CAPTURE 0x0890u
#define MSMON_MBWU_OFSR      0x0898u
#define MSMON_OFLOW_SR       0x08F0u

/* MPAMF_IDR */
#define MPAMF_IDR_PARTID_MAX     0xFFFFull
#define MPAMF_IDR_PMG_MAX_SHIFT  16
#define MPAMF_IDR_PMG_MAX        0xFFull
#define MPAMF_IDR_HAS_CCAP_PART  (1ull << 24)
#define MPAMF_IDR_HAS_CPOR_PART  (1ull << 25)
#define MPAMF_IDR_HAS_MBW_PART   (1ull << 26)
#define MPAMF_IDR_HAS_PRI_PART   (1ull << 27)
#define MPAMF_IDR_EXT            (1ull << 28)
#define MPAMF_IDR_HAS_IMPL_IDR   (1ull << 29)
#define MPAMF_IDR_HAS_MSMON      (1ull << 30)
#define MPAMF_IDR_HAS_PARTID_NRW (1ull << 31)
#define MPAMF_IDR_HAS_RIS        (1ull << 32)
#define MPAMF_IDR_HAS_EXTD_ESR   (1ull << 38)
#define MPAMF_IDR_HAS_ESR        (1ull << 39)
#define MPAMF_IDR_HAS_ENDIS      (1ull << 42)
#define MPAMF_IDR_RIS_MAX_SHIFT  56
#define MPAMF_IDR_RIS_MAX        0xFull

/* MPAMF_AIDR */
#define MPAMF_AIDR_MINOR       0xFu
#define MPAMF_AIDR_MAJOR_SHIFT 4

/* MPAMF_CPOR_IDR, MPAMF_CCAP_IDR */
#define MPAMF_CPOR_IDR_CPBM_WD      0xFFFFu
#define MPAMF_CCAP_IDR_CMAX_WD      0x3Fu
#define MPAMF_CCAP_IDR_CASSOC_SHIFT 8
#define MPAMF_CCAP_IDR_CASSOC_WD    0x1Fu
#define MPAMF_CCAP_IDR_HAS_CASSOC   (1u << 28)
#define MPAMF_CCAP_IDR_HAS_CMIN     (1u << 29)
#define MPAMF_CCAP_IDR_NO_CMAX      (1u << 30)
#define MPAMF_CCAP_IDR_HAS_SOFTLIM  (1u << 31)

/* MPAMF_MBW_IDR */
#define MPAMF_MBW_IDR_BWA_WD      0x3Fu
#define MPAMF_MBW_IDR_HAS_MIN     (1u << 10)
#define MPAMF_MBW_IDR_HAS_MAX     (1u << 11)
#define MPAMF_MBW_IDR_HAS_PBM     (1u << 12)
#define MPAMF_MBW_IDR_HAS_PROP    (1u << 13)
#define MPAMF_MBW_IDR_WINDWR      (1u << 14)
#define MPAMF_MBW_IDR_BWPBM_SHIFT 16
#define MPAMF_MBW_IDR_BWPBM_WD    0x1FFFu

/* MPAMF_PRI_IDR */
#define MPAMF_PRI_IDR_HAS_INTPRI   (1u << 0)
#define MPAMF_PRI_IDR_INTPRI_0_LOW (1u << 1)
#define MPAMF_PRI_IDR_INTPRI_SHIFT 4
#define MPAMF_PRI_IDR_HAS_DSPRI    (1u << 16)
#define MPAMF_PRI_IDR_DSPRI_0_LOW  (1u << 17)
#define MPAMF_PRI_IDR_DSPRI_SHIFT  20
#define MPAMF_PRI_IDR_WD           0x3Fu

/* MPAMF_PARTID_NRW_IDR */
#define MPAMF_PARTID_NRW_INTPARTID 0xFFFFu

/* MPAMF_MSMON_IDR, MPAMF_CSUMON_IDR, MPAMF_MBWUMON_IDR */
#define MPAMF_MSMON_IDR_CSU        (1u << 16)
#define MPAMF_MSMON_IDR_MBWU       (1u << 17)
#define MPAMF_MSMON_IDR_OFLOW_SR   (1u << 28)
#define MPAMF_MSMON_IDR_NO_OFLOW   (1u << 30) /* no interrupt line for overflows */
#define MPAMF_MSMON_IDR_LOCAL_CAPT (1u << 31)
#define MPAMF_MON_IDR_NUM_MON      0xFFFFu
#define MPAMF_CSUMON_IDR_CSU_RO    (1u << 30)
#define MPAMF_MBWUMON_IDR_SCALE    16
#define MPAMF_MBWUMON_IDR_HAS_OFSR (1u << 26)
#define MPAMF_MBWUMON_IDR_HAS_RWBW (1u << 28)
#define MPAMF_MBWUMON_IDR_LWD      (1u << 29)
#define MPAMF_MBWUMON_IDR_HAS_LONG (1u << 30)
#define MPAMF_MON_IDR_HAS_CAPTURE  (1u << 31)

/* MPAMCFG_PART_SEL, MSMON_CFG_MON_SEL */
#define MPAMCFG_PART_SEL_INTERNAL (1u << 16)
#define MPAM_SEL_RIS_SHIFT        24

/* Controls */
#define MPAMCFG_CMAX_SOFTLIM       (1u << 31)
#define MPAMCFG_MBW_MAX_HARDLIM    (1u << 31)
#define MPAMCFG_MBW_PROP_EN        (1u << 31)
#define MPAMCFG_MBW_PROP_STRIDEM1  0xFFFFu
#define MPAMCFG_PRI_DSPRI_SHIFT    16
#define MPAMCFG_INTPARTID_INTERNAL (1u << 16)
#define MPAMCFG_MBW_WINWD_US_SHIFT 8 /* whole microseconds, 16 bits; below them 1/256 us */

/* MSMON_CFG_CSU_CTL, MSMON_CFG_MBWU_CTL and the filters */
#define MSMON_CTL_TYPE_MBWU       0x42u
#define MSMON_CTL_TYPE_CSU        0x43u
#define MSMON_CTL_OFLOW_INTR_L    (1u << 14) /* of MBWU's long counter */
#define MSMON_CTL_OFLOW_STATUS_L  (1u << 15)
#define MSMON_CTL_MATCH_PARTID    (1u << 16)
#define MSMON_CTL_MATCH_PMG       (1u << 17)
#define MSMON_CTL_SCLEN           (1u << 19)
#define MSMON_CTL_OFLOW_FRZ       (1u << 24)
#define MSMON_CTL_OFLOW_INTR      (1u << 25)
#define MSMON_CTL_OFLOW_STATUS    (1u << 26)
#define MSMON_CTL_CAPT_RESET      (1u << 27)
#define MSMON_CTL_CAPT_EVNT_SHIFT 28
#define MSMON_CTL_CAPT_EVNT_NOW   7u /* of MSMON_CAPT_EVNT in this page */
#define MSMON_CTL_EN              (1u << 31)
#define MSMON_FLT_PMG_SHIFT       16
#define MSMON_FLT_MBWU_RWBW_SHIFT 30 /* 0: both, 1: writes, 2: reads */
#define MSMON_CAPT_EVNT_NOW       (1u << 0)

/* Values of monitors */
#define MSMON_VALUE      0x7FFFFFFFu
#define MSMON_NRDY       (1u << 31)
#define MSMON_L_NRDY     (1ull << 63)
#define MSMON_L_VALUE_44 0xFFFFFFFFFFFull
#define MSMON_L_VALUE_63 0x7FFFFFFFFFFFFFFFull

/* MSMON_OFLOW_SR; bit r: of resource instance r */
#define MSMON_OFLOW_SR_MBWU (1u << 30)
#define MSMON_OFLOW_SR_CSU  (1u << 31)

/* MPAMF_ECR, MPAMF_ESR */
#define MPAMF_ECR_INTEN         (1u << 0)
#define MPAMF_ESR_PMG_SHIFT     16
#define MPAMF_ESR_ERRCODE_SHIFT 24
#define MPAMF_ESR_ERRCODE       0xFu
#define MPAMF_ESR_OVRWR         (1u << 31)
#define MPAMF_ESR_RIS_SHIFT     32 /* where MPAMF_IDR.HAS_EXTD_ESR is 1 */

enum mpam_error_code {
    MPAM_ERROR_NONE = 0,
    MPAM_ERROR_PARTID_SEL_RANGE = 1,
    MPAM_ERROR_REQ_PARTID_RANGE = 2,
    MPAM_ERROR_MSMONCFG_ID_RANGE = 3,
    MPAM_ERROR_REQ_PMG_RANGE = 4,
    MPAM_ERROR_MONITOR_RANGE = 5,
    MPAM_ERROR_INTPARTID_RANGE = 6,
    MPAM_ERROR_UNEXPECTED_INTERNAL = 7,
    MPAM_ERROR_UNDEFINED_RIS_PART_SEL = 8,
    MPAM_ERROR_RIS_NO_CONTROL = 9,
    MPAM_ERROR_UNDEFINED_RIS_MON_SEL = 10,
    MPAM_ERROR_RIS_NO_MONITOR = 11,
};

#endif
