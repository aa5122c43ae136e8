// SPDX-License-Identifier: Apache-2.0
//
// Address translation of a guest, hosted backend: the machine maps guest-physical memory at an address of its
// choice, as stage 2 does; there are no tables to build. Same interface as the target's.
#ifndef BULKHEAD_GUESTS_ARCH_MMU_H
#define BULKHEAD_GUESTS_ARCH_MMU_H

#include <arch/machine.h>
#include <stdbool.h>

#include "guests/runtime/memory.h"

#define MMU_ADDRESS_END (512ull << 30)

static inline void mmu_init(void)
{
    guest_map_past_caches(0, 0);
}

static inline void mmu_map_executable(uint64_t address)
{
    (void)address;
}

static inline uint64_t mmu_virtual(uint64_t physical)
{
    return guest_memory_at(physical);
}

static inline uint64_t mmu_physical(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer - guest_memory_base();
}

static inline bool mmu_map_past_caches(uint64_t start, uint64_t bytes, bool device)
{
    uint64_t address = start - guest_memory_base();

    (void)device; /* the machine does not distinguish the two */
    if ((address | bytes) % MEMORY_BLOCK_BYTES != 0)
        return false;
    guest_map_past_caches(address, bytes);
    guest_execute(GUEST_TLBI);
    return true;
}

#endif
