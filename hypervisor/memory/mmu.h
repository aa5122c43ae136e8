/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's own address space: the pool, linear at POOL_VA, with separate protections for code, constants and
 * data; the console and the interrupt controller at their physical addresses; the page of the trampoline. It
 * maps nothing of a guest, except through windows (window.h).
 */
#ifndef BULKHEAD_MMU_H
#define BULKHEAD_MMU_H

#include "core/manifest.h"
#include "memory/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Leaf attributes of EL2's stage 1 (DDI 0487, D8.5). MMU_MEMORY: AttrIndx 1, AP[1], SH, AF. */
#define MMU_MEMORY        ((1ull << 2) | (1ull << 6) | (3ull << 8) | (1ull << 10))
#define MMU_READ_ONLY     (1ull << 7)
#define MMU_EXECUTE_NEVER (1ull << 54)
#define MMU_DATA          (MMU_MEMORY | MMU_EXECUTE_NEVER)
#define MMU_CONST         (MMU_MEMORY | MMU_READ_ONLY | MMU_EXECUTE_NEVER)
#define MMU_CODE          (MMU_MEMORY | MMU_READ_ONLY)
#define MMU_DEVICE        ((1ull << 6) | (1ull << 10) | MMU_EXECUTE_NEVER)
#define MMU_UNCACHED      ((2ull << 2) | (1ull << 6) | (3ull << 8) | (1ull << 10) | MMU_EXECUTE_NEVER)

#define MMU_UNCACHED_READ_ONLY (MMU_UNCACHED | MMU_READ_ONLY)

/* Builds EL2's tables. Returns false if the pool is exhausted. */
bool mmu_create(struct pool *pool, const struct manifest_header *manifest, paddr_t *root);

/* Register values with which the trampoline turns the MMU on. */
#define MMU_MAIR 0x44FF04ull /* 0: Device-nGnRE; 1: Normal write-back; 2: Normal non-cacheable */
uint64_t mmu_tcr(void);
uint64_t mmu_sctlr(void);

#ifdef __cplusplus
}
#endif

#endif
