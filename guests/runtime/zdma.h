// SPDX-License-Identifier: Apache-2.0
//
// A channel of a ZynqMP's DMA in simple mode, driven by its domain (UG1087, module ZDMA). Where no IOMMU
// translates for it, the channel masters physical memory: a domain whose memory is contiguous is told where
// it is (parameter `memory_pa`).
#ifndef BULKHEAD_GUEST_ZDMA_H
#define BULKHEAD_GUEST_ZDMA_H

#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>
#include <stdbool.h>
#include <stdint.h>

#include "guests/runtime/board.h"

enum {
    zdma_channel_bytes = 0x10000, // from one channel's registers to the next one's
    zdma_isr = 0x100,
    zdma_ier = 0x108,
    zdma_ids = 0x10C,
    zdma_ctrl0 = 0x110,
    zdma_status = 0x11C,
    zdma_data_attributes = 0x120,
    zdma_source = 0x128, // four words: address low, high, size, control
    zdma_destination = 0x138,
    zdma_ctrl2 = 0x200,
    zdma_isr_all = 0xFFF,
    zdma_isr_done = 1 << 10,
    zdma_isr_errors = 1 << 9 | 1 << 8 | 1 << 7 | 1 << 6 | 1 << 0, // AXI, descriptor, APB
    zdma_ctrl2_enable = 1,
    zdma_status_state = 3,
    zdma_status_busy = 2,
    zdma_coherent = 1, // control word of a side
    // incrementing bursts of 16, cacheable (AxCACHE 15) both ways
    zdma_cached = 1 << 26 | 0xF << 22 | 0xF << 14 | 1 << 12 | 0xF << 8 | 0xF,
};

// Whether a transfer is under way, also one that an earlier life of the domain has begun.
static inline bool zdma_is_busy(uint64_t registers)
{
    return (mmio_read32(registers + zdma_status) & zdma_status_state) == zdma_status_busy;
}

// Drops old interrupts, and interrupts at the end of each transfer from here on.
static inline void zdma_init(uint64_t registers)
{
    mmio_write32(registers + zdma_ids, zdma_isr_all);
    mmio_write32(registers + zdma_isr, zdma_isr_all);
    mmio_write32(registers + zdma_ier, zdma_isr_all);
    mmio_write32(registers + zdma_ctrl0, 0);
}

// Takes the interrupt: how the transfer has ended, zdma_isr_done alone if it is complete.
static inline uint32_t zdma_take(uint64_t registers)
{
    uint32_t status = mmio_read32(registers + zdma_isr);

    mmio_write32(registers + zdma_isr, status);
    return status;
}

static inline void zdma_write_side(uint64_t side, uint64_t at, uint32_t bytes, uint32_t control)
{
    mmio_write32(side, (uint32_t)at);
    mmio_write32(side + 4, (uint32_t)(at >> 32));
    mmio_write32(side + 8, bytes);
    mmio_write32(side + 12, control);
}

// Begins a transfer between addresses as the channel sees them; none is under way.
static inline void zdma_copy(uint64_t registers, uint64_t to, uint64_t from, uint32_t bytes, uint32_t control)
{
    zdma_write_side(registers + zdma_source, from, bytes, control);
    zdma_write_side(registers + zdma_destination, to, bytes, control);
    cpu_sync_memory(); // the source must be in memory
    mmio_write32(registers + zdma_ctrl2, zdma_ctrl2_enable);
}

static inline uint64_t zdma_physical(const void *at, uint64_t memory_pa)
{
    return mmu_physical(at) - board()->ram[0].address + memory_pa;
}

// Begins a transfer within the program's memory; none is under way.
static inline void zdma_start(uint64_t registers, const void *to, const void *from, uint32_t bytes,
                              uint64_t memory_pa)
{
    zdma_copy(registers, zdma_physical(to, memory_pa), zdma_physical(from, memory_pa), bytes, 0);
}

#endif
