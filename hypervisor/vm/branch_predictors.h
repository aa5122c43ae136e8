/* SPDX-License-Identifier: Apache-2.0
 *
 * A guest can train what its core predicts by: branches of EL2, or of the next guest, then go wrong for a
 * moment and leave traces of what they must not show. What a core needs against that depends on its type:
 * nothing, instructions of EL2, or a call to firmware (SMCCC_ARCH_WORKAROUND_1 to _3: DEN0028, DEN0070).
 *
 * Where it needs something, EL2 does it at each entry from a guest, before it branches by anything that is
 * predicted (vectors.S). No second place is needed: between two guests of a shared core there is such an
 * entry. Cores that need nothing have vectors without it.
 */
#ifndef BULKHEAD_BRANCH_PREDICTORS_H
#define BULKHEAD_BRANCH_PREDICTORS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of the calling convention: forgets branch targets; stops loads from bypassing older stores;
 * forgets branch targets and their history. */
#define SMCCC_ARCH_WORKAROUND_1 0x80008000u
#define SMCCC_ARCH_WORKAROUND_2 0x80007FFFu
#define SMCCC_ARCH_WORKAROUND_3 0x80003FFFu

/* Answers about them by SMCCC_ARCH_FEATURES. */
#define WORKAROUND_HELPS         0
#define WORKAROUND_NOT_REQUIRED  1
#define WORKAROUND_NOT_SUPPORTED (-1)

/* branch_predictors.at_entry where neither a number of branches nor a function of firmware is in it */
#define AT_ENTRY_NOTHING 0u
#define AT_ENTRY_CLRBHB  0x100u

struct cpu;

/* What is known of a core. */
struct branch_predictors {
    /* What its vectors do: a function to call by SMC (bit 31 is set), AT_ENTRY_CLRBHB, or how many branches
     * to take so that no older ones are remembered. vectors.S reads it. */
    uint32_t at_entry;
    int8_t workaround_1; /* what SMCCC_ARCH_FEATURES tells guests of this core */
    int8_t workaround_2;
    int8_t workaround_3;
};

/* Finds out what the calling core needs, from its ID registers and its firmware, and does it from now on.
 * False: it needs what its firmware does not have, so guests can steer EL2's predictions and each other's. */
bool branch_predictors_init(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
