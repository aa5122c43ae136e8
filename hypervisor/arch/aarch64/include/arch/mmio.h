/* SPDX-License-Identifier: Apache-2.0
 *
 * Device-register accessors, target backend. Devices are mapped at their physical address at EL2. One plain
 * load or store each, no write-back addressing, so that the accesses have a valid syndrome when Bulkhead
 * itself runs under something that emulates the device.
 */
#ifndef BULKHEAD_ARCH_MMIO_H
#define BULKHEAD_ARCH_MMIO_H

#include "core/address.h"

static inline uint32_t mmio_read32(paddr_t address)
{
    uint32_t value;
    __asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address.value) : "memory");
    return value;
}

static inline void mmio_write32(paddr_t address, uint32_t value)
{
    __asm__ volatile("str %w0, [%1]" ::"r"(value), "r"(address.value) : "memory");
}

static inline uint64_t mmio_read64(paddr_t address)
{
    uint64_t value;
    __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address.value) : "memory");
    return value;
}

static inline void mmio_write64(paddr_t address, uint64_t value)
{
    __asm__ volatile("str %0, [%1]" ::"r"(value), "r"(address.value) : "memory");
}

#endif
