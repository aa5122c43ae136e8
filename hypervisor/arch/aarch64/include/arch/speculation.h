/* SPDX-License-Identifier: Apache-2.0
 *
 * A guest's number as an index: a core that guesses the outcome of a bounds check must not get beyond the
 * bounds either. And vectors that forget what a guest has taught the core. The hosted backend has the same
 * names.
 */
#ifndef BULKHEAD_ARCH_SPECULATION_H
#define BULKHEAD_ARCH_SPECULATION_H

#include <arch/sysreg.h>
#include <stdint.h>

/* All ones if index < count, else zero, without a branch; also for what the core does on a guess. */
static inline uint64_t arch_index_mask(uint64_t index, uint64_t count)
{
    uint64_t mask;

    __asm__ volatile("cmp %1, %2\n\tsbc %0, xzr, xzr\n\thint #20 /* csdb */"
                     : "=r"(mask)
                     : "r"(index), "r"(count)
                     : "cc");
    return mask;
}

extern char vectors_hardened[]; /* vectors.S */

/* Each entry from a guest to EL2 of this core does from now on what its struct branch_predictors says. */
static inline void arch_harden_entries(void)
{
    sysreg_write(VBAR_EL2, (uintptr_t)vectors_hardened);
    __asm__ volatile("isb" ::: "memory");
}

#endif
