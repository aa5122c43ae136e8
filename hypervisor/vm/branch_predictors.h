/* SPDX-License-Identifier: Apache-2.0
 *
 * Protection against branch-predictor attacks. A guest can train the branch predictors of its core so that
 * EL2 or the next guest speculatively executes wrong paths, which leave traces of secret data in the caches.
 * The protection depends on the core's type: none needed, instructions at EL2, or a call to firmware
 * (SMCCC_ARCH_WORKAROUND_1 to _3: DEN0028, DEN0070).
 *
 * Where a core needs protection, EL2 applies it at each entry from a guest, before its first predicted branch
 * (vectors.S). This also protects guests that share a core from each other, because each switch between two
 * guests goes through EL2. Cores that need no protection use vectors without it.
 */
#ifndef BULKHEAD_BRANCH_PREDICTORS_H
#define BULKHEAD_BRANCH_PREDICTORS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Firmware functions of the SMC calling convention: 1 invalidates branch targets; 2 stops loads from
 * bypassing older stores; 3 invalidates branch targets and branch history. */
#define SMCCC_ARCH_WORKAROUND_1 0x80008000u
#define SMCCC_ARCH_WORKAROUND_2 0x80007FFFu
#define SMCCC_ARCH_WORKAROUND_3 0x80003FFFu

/* Answers of SMCCC_ARCH_FEATURES about these functions. */
#define WORKAROUND_HELPS         0
#define WORKAROUND_NOT_REQUIRED  1
#define WORKAROUND_NOT_SUPPORTED (-1)

/* Values of branch_predictors.at_entry that are neither a number of branches nor a firmware function. */
#define AT_ENTRY_NOTHING 0u
#define AT_ENTRY_CLRBHB  0x100u

struct cpu;

/* The protection that a core uses. */
struct branch_predictors {
    /* What the core's vectors do at entry: call this firmware function by SMC (bit 31 is set), execute
     * CLRBHB (AT_ENTRY_CLRBHB), or take this number of branches to overwrite the branch history. vectors.S
     * reads it. */
    uint32_t at_entry;
    int8_t workaround_1; /* answer of SMCCC_ARCH_FEATURES to guests of this core */
    int8_t workaround_2;
    int8_t workaround_3;
};

/* Finds out from ID registers and firmware what protection the calling core needs, and applies it from now
 * on. Returns false if the core needs a function that its firmware lacks; guests can then influence the
 * branch prediction of EL2 and of other guests. */
bool branch_predictors_init(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
