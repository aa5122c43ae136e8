/* SPDX-License-Identifier: Apache-2.0
 *
 * Access from C to memory at an address, hosted backend: the memory is wherever the backend keeps it.
 */
#ifndef BULKHEAD_ARCH_PHYSICAL_H
#define BULKHEAD_ARCH_PHYSICAL_H

#include "core/address.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Implemented by the backend that is linked in: where it keeps the byte at `pa`, and EL2's pages from `va` on
 * as the tables map them now. */
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
