/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls by SMC to the firmware, or to what takes its place, with the SMC calling convention (DEN0028).
 */
#ifndef BULKHEAD_ARCH_SMC_H
#define BULKHEAD_ARCH_SMC_H

#include <stdint.h>

static inline int64_t arch_smc(uint64_t function, uint64_t first, uint64_t second, uint64_t third)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = first;
    register uint64_t x2 __asm__("x2") = second;
    register uint64_t x3 __asm__("x3") = third;

    __asm__ volatile("smc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
                     :
                     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                       "x17", "memory");
    return (int64_t)x0;
}

/* The same with all registers of the convention: arguments x[0 .. 7], results in x[0 .. 3]. */
static inline void arch_smc_all(uint64_t x[8])
{
    __asm__ volatile("ldp x0, x1, [%0]\n\t"
                     "ldp x2, x3, [%0, #16]\n\t"
                     "ldp x4, x5, [%0, #32]\n\t"
                     "ldp x6, x7, [%0, #48]\n\t"
                     "smc #0\n\t"
                     "stp x0, x1, [%0]\n\t"
                     "stp x2, x3, [%0, #16]"
                     :
                     : "r"(x)
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "memory");
}

#endif
