// SPDX-License-Identifier: Apache-2.0
//
// Address translation of a guest: an identity map, RAM as cacheable memory, everything else as device memory
// that is not executable. Called by runtime/start.c.
#ifndef BULKHEAD_GUESTS_ARCH_MMU_H
#define BULKHEAD_GUESTS_ARCH_MMU_H

#include <stdbool.h>
#include <stdint.h>

// Addresses from here on are not mapped.
#define MMU_ADDRESS_END (512ull << 30)

// Builds the tables from the board's description and turns MMU and caches on, for the calling VCPU; the
// others use the same tables when they start.
void mmu_init(void);

// Maps the aligned GiB around `address` as executable memory although it is not RAM, so that a jump there
// passes stage 1 and faults in stage 2. For tests of containment; ignored for a GiB that has RAM.
void mmu_map_executable(uint64_t address);

// Maps whole blocks of MEMORY_BLOCK_BYTES of RAM, given by virtual address, so that caches do not hold them:
// as Non-cacheable memory, or as device memory. For all VCPUs. Their lines are cleaned to memory. Returns
// false, and changes nothing, if they are not whole blocks or are part of a larger one.
bool mmu_map_past_caches(uint64_t start, uint64_t bytes, bool device);

// 512 small pages of the program's own from MMU_SMALL_PAGES on, with an entry each: 0, or the address of a
// page of RAM | MMU_SMALL_PAGE (executable memory of this address space). The caller that changes an entry
// invalidates the old translation; mmu_small_pages() must have been called once before.
#define MMU_SMALL_PAGES      (510ull << 30)
#define MMU_SMALL_PAGE_BYTES 4096u
#define MMU_SMALL_PAGE       0xF07ull // not global, accessed, inner shareable, MAIR attribute 1, a page
volatile uint64_t *mmu_small_pages(void);

// Virtual address of a guest-physical address, and the reverse: here both are equal.
static inline uint64_t mmu_virtual(uint64_t physical)
{
    return physical;
}

static inline uint64_t mmu_physical(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

#endif
