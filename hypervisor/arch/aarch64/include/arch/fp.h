/* SPDX-License-Identifier: Apache-2.0
 *
 * The floating-point and SIMD registers, which EL2 never uses: they are the guest's, and only a guest that
 * starts finds them changed. The hosted backend has the same name as a call.
 */
#ifndef BULKHEAD_ARCH_FP_H
#define BULKHEAD_ARCH_FP_H

/* Clears all of them, their control and their status. */
static inline void arch_fp_clear(void)
{
    __asm__ volatile(
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "movi v\\n\\().2d, #0\n\t"
        ".endr\n\t"
        "msr FPCR, xzr\n\t"
        "msr FPSR, xzr");
}

#endif
