/* SPDX-License-Identifier: Apache-2.0
 *
 * Maintenance that EL2 executes for a guest whose own instructions trap, target backend: one instruction
 * each, under the guest's VMID. These functions do not wait for completion, because the guest's own barrier
 * does. The hosted backend implements the same names as function calls.
 */
#ifndef BULKHEAD_ARCH_MAINTENANCE_H
#define BULKHEAD_ARCH_MAINTENANCE_H

#include "arch/tlbi.h"
#include <stdbool.h>
#include <stdint.h>

/* Invalidates translations of EL1 and EL0 on this core, or on all cores of the inner shareable domain if
 * `everywhere`. `operand`: the guest's operand, unchanged. */
static inline void arch_tlbi(enum tlbi_form form, bool everywhere, uint64_t operand)
{
    switch (form) {
#define EXECUTE(name, own, inner, outer, op2, register)                                                      \
    case TLBI_##name:                                                                                        \
        if (everywhere) {                                                                                    \
            __asm__ volatile("sys #0, c8, c" #inner ", #" #op2 ", " register ::"r"(operand) : "memory");     \
        } else {                                                                                             \
            __asm__ volatile("sys #0, c8, c" #own ", #" #op2 ", " register ::"r"(operand) : "memory");       \
        }                                                                                                    \
        break;
        TLBI_FORMS(EXECUTE)
#undef EXECUTE
    case TLBI_FORM_COUNT:
        break;
    }
}

/* Invalidates the instruction cache of this core, or those of all cores if `everywhere`. */
static inline void arch_icache_invalidate(bool everywhere)
{
    if (everywhere) {
        __asm__ volatile("ic ialluis" ::: "memory");
    } else {
        __asm__ volatile("ic iallu" ::: "memory");
    }
}

/* Maintain the line at `address` to the point of unification: invalidate it in all instruction caches; clean
 * it in the data caches. */
static inline void arch_icache_invalidate_line(uintptr_t address)
{
    __asm__ volatile("ic ivau, %0" ::"r"(address) : "memory");
}

static inline void arch_dcache_clean_line_to_unification(uintptr_t address)
{
    __asm__ volatile("dc cvau, %0" ::"r"(address) : "memory");
}

/* The translation by both stages of an address that the guest of this core reads, at EL0 if `user`, otherwise
 * at EL1, in the format of PAR_EL1 (DDI 0487, D24.2). The guest's own PAR_EL1 is preserved. */
static inline uint64_t arch_translate_guest(uint64_t address, bool user)
{
    uint64_t own;
    uint64_t found;

    __asm__ volatile("mrs %0, PAR_EL1" : "=r"(own));
    if (user) {
        __asm__ volatile("at s12e0r, %0\n\tisb" ::"r"(address) : "memory");
    } else {
        __asm__ volatile("at s12e1r, %0\n\tisb" ::"r"(address) : "memory");
    }
    __asm__ volatile("mrs %0, PAR_EL1\n\tmsr PAR_EL1, %1" : "=&r"(found) : "r"(own) : "memory");
    return found;
}

#endif
