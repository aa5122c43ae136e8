/* SPDX-License-Identifier: Apache-2.0
 *
 * Protection against speculation. arch_index_mask() keeps a core that mispredicts a bounds check from using a
 * guest's number as an index out of bounds; the hardened vectors remove what a guest has trained in the
 * branch predictors. The hosted backend implements the same names.
 */
#ifndef BULKHEAD_ARCH_SPECULATION_H
#define BULKHEAD_ARCH_SPECULATION_H

#include <arch/sysreg.h>
#include <stdint.h>

/* All ones if index < count, otherwise zero, computed without a branch, so that it also holds during
 * speculation. */
static inline uint64_t arch_index_mask(uint64_t index, uint64_t count)
{
    uint64_t mask;

    __asm__ volatile("cmp %1, %2\n\tsbc %0, xzr, xzr\n\thint #20 /* csdb */"
                     : "=r"(mask)
                     : "r"(index), "r"(count)
                     : "cc");
    return mask;
}

extern char vectors_hardened[]; /* in vectors.S */

/* From now on, each entry from a guest to EL2 on this core does what its struct branch_predictors says. */
static inline void arch_harden_entries(void)
{
    sysreg_write(VBAR_EL2, (uintptr_t)vectors_hardened);
    __asm__ volatile("isb" ::: "memory");
}

#endif
