// SPDX-License-Identifier: Apache-2.0
//
// Device registers, hosted backend: calls of the machine. Same interface as the target's.
#ifndef BULKHEAD_GUESTS_ARCH_MMIO_H
#define BULKHEAD_GUESTS_ARCH_MMIO_H

#include <arch/machine.h>

static inline uint8_t mmio_read8(uint64_t address)
{
    return (uint8_t)guest_mmio_read(address, 1);
}

static inline void mmio_write8(uint64_t address, uint8_t value)
{
    guest_mmio_write(address, 1, value);
}

static inline void mmio_write16(uint64_t address, uint16_t value)
{
    guest_mmio_write(address, 2, value);
}

static inline uint32_t mmio_read32(uint64_t address)
{
    return (uint32_t)guest_mmio_read(address, 4);
}

static inline void mmio_write32(uint64_t address, uint32_t value)
{
    guest_mmio_write(address, 4, value);
}

static inline uint64_t mmio_read64(uint64_t address)
{
    return guest_mmio_read(address, 8);
}

static inline void mmio_write64(uint64_t address, uint64_t value)
{
    guest_mmio_write(address, 8, value);
}

static inline void mmio_write_pair(uint64_t address, uint64_t first, uint64_t second)
{
    guest_mmio_write_pair(address, first, second);
}

#endif
