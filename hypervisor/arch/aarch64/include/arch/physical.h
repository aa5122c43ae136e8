/* SPDX-License-Identifier: Apache-2.0
 *
 * Where C sees memory that an address names, target backend: a pointer is the address.
 */
#ifndef BULKHEAD_ARCH_PHYSICAL_H
#define BULKHEAD_ARCH_PHYSICAL_H

#include "core/address.h"

/* Physical memory while the MMU is off: boot code only. */
static inline void *phys_pointer(paddr_t pa)
{
    return (void *)(uintptr_t)pa.value;
}

/* `bytes` of EL2's address space from the page at `va` on, whose entries have just been made. */
static inline void *el2_pointer(uint64_t va, uint64_t bytes)
{
    (void)bytes;
    return (void *)(uintptr_t)va;
}

#endif
