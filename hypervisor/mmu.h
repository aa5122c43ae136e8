/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's own address space: the pool, linear at POOL_VA, with code, constants and data in different
 * protections; the console and interrupt controller at their physical addresses; the trampoline page. Nothing
 * of a guest.
 */
#ifndef BULKHEAD_MMU_H
#define BULKHEAD_MMU_H

#include "core/manifest.h"
#include "pool.h"

/* Builds the tables. `trampoline` is the physical address of that page. False when the pool is exhausted. */
bool mmu_create(struct pool *pool, const struct manifest_header *manifest, paddr_t trampoline, paddr_t *root);

/* Register values with which the trampoline turns the MMU on. */
#define MMU_MAIR 0xFF04ull /* 0: Device-nGnRE; 1: Normal write-back */
uint64_t mmu_tcr(void);
uint64_t mmu_sctlr(void);

#endif
