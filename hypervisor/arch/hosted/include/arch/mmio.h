/* SPDX-License-Identifier: Apache-2.0
 *
 * Device-register accessors, hosted backend: calls into the fakes or the machine's device models.
 */
#ifndef BULKHEAD_ARCH_MMIO_H
#define BULKHEAD_ARCH_MMIO_H

#include "core/address.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One access of `bytes` (4 or 8) at physical address `pa`. Provided by the backend that is linked in. */
uint64_t hosted_mmio_read(uint64_t pa, unsigned bytes);
void hosted_mmio_write(uint64_t pa, unsigned bytes, uint64_t value);

static inline uint32_t mmio_read32(paddr_t address)
{
    return (uint32_t)hosted_mmio_read(address.value, 4);
}

static inline void mmio_write32(paddr_t address, uint32_t value)
{
    hosted_mmio_write(address.value, 4, value);
}

static inline uint64_t mmio_read64(paddr_t address)
{
    return hosted_mmio_read(address.value, 8);
}

static inline void mmio_write64(paddr_t address, uint64_t value)
{
    hosted_mmio_write(address.value, 8, value);
}

#ifdef __cplusplus
}
#endif

#endif
