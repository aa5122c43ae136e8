/* SPDX-License-Identifier: Apache-2.0
 *
 * Device-register accessors, target backend. EL2 maps devices at their physical addresses. Each access is one
 * plain load or store without write-back addressing, so that it has a valid syndrome if Bulkhead itself runs
 * on a system that traps and emulates the device.
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
