/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory as C sees it while the MMU is off: a pointer is the address. Boot code only.
 */
#ifndef BULKHEAD_ARCH_PHYSICAL_H
#define BULKHEAD_ARCH_PHYSICAL_H

#include "core/address.h"

static inline void *phys_pointer(paddr_t pa)
{
    return (void *)(uintptr_t)pa.value;
}

#endif
