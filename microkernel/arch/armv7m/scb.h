/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the system control space (DDI 0403E, B3) that the kernel uses.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7M_SCB_H
#define BULKHEAD_MICROKERNEL_ARMV7M_SCB_H

#include <stdint.h>

enum scb_register {
    SYST_CSR = 0x010,
    SYST_RVR = 0x014,
    SYST_CVR = 0x018,
    SCB_ICSR = 0xD04,
    SCB_VTOR = 0xD08,
    SCB_CCR = 0xD14,
    SCB_SHPR1 = 0xD18, /* MemManage, BusFault, UsageFault */
    SCB_SHPR2 = 0xD1C, /* SVCall */
    SCB_SHPR3 = 0xD20, /* PendSV, SysTick */
    SCB_SHCSR = 0xD24,
    SCB_STATUS = 0xD28, /* CFSR */
    SCB_MMFAR = 0xD34,
    SCB_BFAR = 0xD38,
    MPU_TYPE = 0xD90,
    MPU_CTRL = 0xD94,
    SCB_CPACR = 0xD88,
    SCB_ICIALLU = 0xF50,
    SCB_DCISW = 0xF60,  /* invalidate by set and way */
    SCB_DCCISW = 0xF74, /* clean and invalidate by set and way */
    SCB_CCSIDR = 0xD80,
    SCB_CSSELR = 0xD84,
};

#define SCS_BASE 0xE000E000u

#define SYST_ENABLE        1u
#define SYST_TICKINT       2u
#define SYST_CORE_CLOCK    4u
#define ICSR_PENDSVSET     (1u << 28)
#define CCR_STKALIGN       (1u << 9)
#define CCR_DC             (1u << 16)
#define CCR_IC             (1u << 17)
#define SHCSR_FAULTS       (7u << 16)
#define SHCSR_SVCALLPENDED (1u << 15)
#define MPU_ENABLE         1u
#define MPU_PRIVDEFENA     4u
#define MMFSR_IACCVIOL     1u
#define MMFSR_DACCVIOL     2u
#define MMFSR_MUNSTKERR    8u
#define MMFSR_MSTKERR      16u
#define MMFSR_MMARVALID    128u
#define CFSR_BFARVALID     (1u << 15)
#define CFSR_INVPC         (1u << 18)
#define LOWEST_PRIORITY    0xE0u

static inline volatile uint32_t *scb(enum scb_register which)
{
    return (volatile uint32_t *)(uintptr_t)(SCS_BASE + (uint32_t)which);
}

#endif
