/* SPDX-License-Identifier: Apache-2.0
 *
 * Cleans ranges of memory from the data caches, for code that stores past the caches: boot code, and the pool
 * while the MMU is off.
 */
#ifndef BULKHEAD_CACHE_H
#define BULKHEAD_CACHE_H

#include "core/address.h"
#include <arch/barrier.h>
#include <arch/physical.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The smallest cache line in use. With larger lines, maintenance in these steps is correct and only
 * slower. */
#define CACHE_LINE_BYTES 64u

/* Cleans and invalidates [pa, pa + bytes), so that lines that a loader left dirty are not written back over
 * later stores past the caches. */
static inline void cache_clean(paddr_t pa, uint64_t bytes)
{
    uintptr_t start = (uintptr_t)phys_pointer(pa);
    uintptr_t end = start + bytes;

    for (uintptr_t line = start & ~(uintptr_t)(CACHE_LINE_BYTES - 1); line < end; line += CACHE_LINE_BYTES) {
        arch_dcache_clean_invalidate_line(line);
    }
    arch_dsb_sy(); /* the maintenance must complete before later stores past the caches */
}

#ifdef __cplusplus
}
#endif

#endif
