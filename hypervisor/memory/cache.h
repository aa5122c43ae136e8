/* SPDX-License-Identifier: Apache-2.0
 *
 * Cleaning ranges of memory from the data caches, for those who store past them: boot code and the pool while
 * the MMU is off.
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

/* The smallest line in use; maintenance by a smaller step than the line is only slower. */
#define CACHE_LINE_BYTES 64u

/* Lines that a loader left dirty must not be written back over what we store past the caches. */
static inline void cache_clean(paddr_t pa, uint64_t bytes)
{
    uintptr_t start = (uintptr_t)phys_pointer(pa);
    uintptr_t end = start + bytes;

    for (uintptr_t line = start & ~(uintptr_t)(CACHE_LINE_BYTES - 1); line < end; line += CACHE_LINE_BYTES) {
        arch_dcache_clean_invalidate_line(line);
    }
    arch_dsb_sy(); /* stores past the caches are not ordered behind the maintenance by themselves */
}

#ifdef __cplusplus
}
#endif

#endif
