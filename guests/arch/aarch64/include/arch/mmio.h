// SPDX-License-Identifier: Apache-2.0
//
// Device registers, seen by the guests' C code. Each access is exactly one load or store of one register
// without write-back, because only those give a hypervisor a valid syndrome to emulate from. The last
// function breaks that rule on purpose, for tests of containment.
#ifndef BULKHEAD_GUESTS_ARCH_MMIO_H
#define BULKHEAD_GUESTS_ARCH_MMIO_H

#include <stdint.h>

static inline uint8_t mmio_read8(uint64_t address)
{
    uint32_t value;
    __asm__ volatile("ldrb %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
    return (uint8_t)value;
}

static inline void mmio_write8(uint64_t address, uint8_t value)
{
    __asm__ volatile("strb %w0, [%1]" : : "r"((uint32_t)value), "r"(address) : "memory");
}

static inline void mmio_write16(uint64_t address, uint16_t value)
{
    __asm__ volatile("strh %w0, [%1]" : : "r"((uint32_t)value), "r"(address) : "memory");
}

static inline uint32_t mmio_read32(uint64_t address)
{
    uint32_t value;
    __asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
    return value;
}

static inline void mmio_write32(uint64_t address, uint32_t value)
{
    __asm__ volatile("str %w0, [%1]" : : "r"(value), "r"(address) : "memory");
}

static inline uint64_t mmio_read64(uint64_t address)
{
    uint64_t value;
    __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
    return value;
}

static inline void mmio_write64(uint64_t address, uint64_t value)
{
    __asm__ volatile("str %0, [%1]" : : "r"(value), "r"(address) : "memory");
}

// Two registers by one instruction: a stage-2 fault on it has no valid syndrome (ISV = 0).
static inline void mmio_write_pair(uint64_t address, uint64_t first, uint64_t second)
{
    __asm__ volatile("stp %0, %1, [%2]" : : "r"(first), "r"(second), "r"(address) : "memory");
}

#endif
