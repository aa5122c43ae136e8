/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls to the firmware beneath (or to what plays it), by SMC with the SMC calling convention (DEN0028).
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

/* The same with all that the convention passes: arguments x[0 .. 7], of which 0 to 3 become the answer. */
static inline void arch_smc_all(uint64_t x[8])
{
    register uint64_t x0 __asm__("x0") = x[0];
    register uint64_t x1 __asm__("x1") = x[1];
    register uint64_t x2 __asm__("x2") = x[2];
    register uint64_t x3 __asm__("x3") = x[3];
    register uint64_t x4 __asm__("x4") = x[4];
    register uint64_t x5 __asm__("x5") = x[5];
    register uint64_t x6 __asm__("x6") = x[6];
    register uint64_t x7 __asm__("x7") = x[7];

    __asm__ volatile("smc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x5), "+r"(x6), "+r"(x7)
                     :
                     : "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory");
    x[0] = x0;
    x[1] = x1;
    x[2] = x2;
    x[3] = x3;
}

#endif
