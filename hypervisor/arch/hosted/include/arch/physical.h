/* SPDX-License-Identifier: Apache-2.0
 *
 * Where C sees memory that an address names, hosted backend: wherever the backend keeps it.
 */
#ifndef BULKHEAD_ARCH_PHYSICAL_H
#define BULKHEAD_ARCH_PHYSICAL_H

#include "core/address.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the backend that is linked in keeps the byte at `pa`, and EL2's pages from `va` on, as the tables say
 * now. */
void *hosted_phys_pointer(paddr_t pa);
void *hosted_el2_pointer(uint64_t va, uint64_t bytes);

static inline void *phys_pointer(paddr_t pa)
{
    return hosted_phys_pointer(pa);
}

static inline void *el2_pointer(uint64_t va, uint64_t bytes)
{
    return hosted_el2_pointer(va, bytes);
}

#ifdef __cplusplus
}
#endif

#endif
