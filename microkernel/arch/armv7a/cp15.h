/* SPDX-License-Identifier: Apache-2.0
 *
 * System control registers (DDI 0406C, B4; DDI 0388I, 4.3) that the kernel uses.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_CP15_H
#define BULKHEAD_MICROKERNEL_ARMV7A_CP15_H

#include <stdint.h>

#define CP15_READ(NAME, OP1, CRN, CRM, OP2)                                                                  \
    static inline uint32_t cp15_read_##NAME(void)                                                            \
    {                                                                                                        \
        uint32_t value;                                                                                      \
        __asm__ volatile("mrc p15, " #OP1 ", %0, " #CRN ", " #CRM ", " #OP2 : "=r"(value));                  \
        return value;                                                                                        \
    }
#define CP15_WRITE(NAME, OP1, CRN, CRM, OP2)                                                                 \
    static inline void cp15_write_##NAME(uint32_t value)                                                     \
    {                                                                                                        \
        __asm__ volatile("mcr p15, " #OP1 ", %0, " #CRN ", " #CRM ", " #OP2 : : "r"(value) : "memory");      \
    }

CP15_READ(dfsr, 0, c5, c0, 0)
CP15_READ(ifsr, 0, c5, c0, 1)
CP15_READ(dfar, 0, c6, c0, 0)
CP15_READ(ifar, 0, c6, c0, 2)
CP15_READ(ccsidr, 1, c0, c0, 0)
CP15_WRITE(csselr, 2, c0, c0, 0)
CP15_WRITE(ttbr0, 0, c2, c0, 0)
CP15_WRITE(ttbr1, 0, c2, c0, 1)
CP15_WRITE(contextidr, 0, c13, c0, 1)
CP15_WRITE(vbar, 0, c12, c0, 0)
CP15_WRITE(tlb_all, 0, c8, c7, 0)
CP15_WRITE(tlb_address, 0, c8, c7, 1) /* and ASID */
CP15_WRITE(tlb_asid, 0, c8, c7, 2)
CP15_WRITE(tlb_lockdown, 0, c10, c0, 0)
CP15_WRITE(cache_clean_set_way, 0, c7, c14, 2)
CP15_WRITE(pmu_control, 0, c9, c12, 0)
CP15_WRITE(pmu_enable, 0, c9, c12, 1)
CP15_WRITE(pmu_user, 0, c9, c14, 0)

#undef CP15_READ
#undef CP15_WRITE

static inline void cp15_complete(void)
{
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

#endif
