/* SPDX-License-Identifier: Apache-2.0
 *
 * The guest's floating-point and SIMD registers, which EL2 never uses. They are cleared when a guest starts,
 * and saved and loaded where VCPUs share a core. The hosted backend implements the same names as function
 * calls.
 */
#ifndef BULKHEAD_ARCH_FP_H
#define BULKHEAD_ARCH_FP_H

#include <stdint.h>

/* Clears all of these registers, including control and status. */
static inline void arch_fp_clear(void)
{
    __asm__ volatile(
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "movi v\\n\\().2d, #0\n\t"
        ".endr\n\t"
        "msr FPCR, xzr\n\t"
        "msr FPSR, xzr");
}

/* Words of a saved state: V0 to V31 as two words each, FPCR, FPSR. */
#define ARCH_FP_WORDS 66u

static inline void arch_fp_save(uint64_t words[ARCH_FP_WORDS])
{
    uint64_t control;
    uint64_t status;

    __asm__ volatile(
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "str q\\n, [%2, #16 * \\n]\n\t"
        ".endr\n\t"
        "mrs %0, FPCR\n\t"
        "mrs %1, FPSR"
        : "=&r"(control), "=&r"(status)
        : "r"(words)
        : "memory");
    words[64] = control;
    words[65] = status;
}

static inline void arch_fp_load(const uint64_t words[ARCH_FP_WORDS])
{
    __asm__ volatile(
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "ldr q\\n, [%0, #16 * \\n]\n\t"
        ".endr\n\t"
        "msr FPCR, %1\n\t"
        "msr FPSR, %2" ::"r"(words),
        "r"(words[64]), "r"(words[65])
        : "memory");
}

#endif
