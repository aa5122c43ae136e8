/* SPDX-License-Identifier: Apache-2.0
 *
 * Access from C to memory at an address, target backend: the pointer has the value of the address.
 */
#ifndef BULKHEAD_ARCH_PHYSICAL_H
#define BULKHEAD_ARCH_PHYSICAL_H

#include "core/address.h"

/* Pointer to physical memory while the MMU is off. For boot code only. */
static inline void *phys_pointer(paddr_t pa)
{
    return (void *)(uintptr_t)pa.value;
}

/* Pointer to `bytes` bytes of EL2's address space from the page at `va` on, whose entries have just been
 * written. */
static inline void *el2_pointer(uint64_t va, uint64_t bytes)
{
    (void)bytes;
    return (void *)(uintptr_t)va;
}

#endif
