/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory as C sees it while the MMU is off, hosted backend: wherever the backend keeps it.
 */
#ifndef BULKHEAD_ARCH_PHYSICAL_H
#define BULKHEAD_ARCH_PHYSICAL_H

#include "core/address.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the backend that is linked in keeps the byte at `pa`. */
void *hosted_phys_pointer(paddr_t pa);

static inline void *phys_pointer(paddr_t pa)
{
    return hosted_phys_pointer(pa);
}

#ifdef __cplusplus
}
#endif

#endif
