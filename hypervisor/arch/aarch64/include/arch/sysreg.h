/* SPDX-License-Identifier: Apache-2.0
 *
 * System-register accessors, target backend: sysreg_read(NAME) and sysreg_write(NAME, value) are one MRS or
 * MSR each. The hosted backend has the same interface as function calls. All names come from
 * arch/sysreg_table.h. The accessors do not synchronize: use arch_isb() where the architecture requires it.
 */
#ifndef BULKHEAD_ARCH_SYSREG_H
#define BULKHEAD_ARCH_SYSREG_H

#include <stdint.h>

#define SYSREG(name, op0, op1, crn, crm, op2)                                                                \
    static inline uint64_t sysreg_read_##name(void)                                                          \
    {                                                                                                        \
        uint64_t value;                                                                                      \
        __asm__ volatile("mrs %0, S" #op0 "_" #op1 "_C" #crn "_C" #crm "_" #op2 : "=r"(value));              \
        return value;                                                                                        \
    }                                                                                                        \
    static inline void sysreg_write_##name(uint64_t value)                                                   \
    {                                                                                                        \
        __asm__ volatile("msr S" #op0 "_" #op1 "_C" #crn "_C" #crm "_" #op2 ", %0" ::"r"(value) : "memory"); \
    }
#include "arch/sysreg_table.h"
#undef SYSREG

#define sysreg_read(name)         sysreg_read_##name()
#define sysreg_write(name, value) sysreg_write_##name(value)

#endif
