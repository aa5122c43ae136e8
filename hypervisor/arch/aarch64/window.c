/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows into physical memory. Only this core uses its pages, so invalidating its own TLB is enough.
 */
#include "memory/window.h"
#include "memory/mmu.h"
#include "memory/ptable.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/barrier.h>

/* Behind everything the pool can hold. */
#define WINDOW_VA 0x6000000000ull

_Static_assert(WINDOW_PAGES <= 512, "window_prepare() makes one table of pages");

static uint64_t address_of(enum window window)
{
    return WINDOW_VA + (this_cpu()->index * (uint64_t)WINDOW_COUNT + window) * BH_PAGE_BYTES;
}

bool window_prepare(struct pool *pool, paddr_t root)
{
    return ptable_prepare(pool, root, WINDOW_VA, BH_MAX_CORES * (uint64_t)WINDOW_COUNT * BH_PAGE_BYTES);
}

void *window_open(enum window window, paddr_t page)
{
    uint64_t address = address_of(window);

    window_close(window);
    ptable_map_page(system_pool(), paddr(system_status()->ttbr0_el2), address, page,
                    window == WINDOW_SOURCE ? MMU_UNCACHED_READ_ONLY : MMU_DATA);
    arch_dsb_sy();
    arch_isb();
    return (void *)(uintptr_t)address;
}

void window_close(enum window window)
{
    uint64_t address = address_of(window);

    ptable_unmap_page(system_pool(), paddr(system_status()->ttbr0_el2), address);
    arch_tlbi_local_el2(address);
}

void *window_sram(paddr_t first, uint32_t pages)
{
    uint64_t address = WINDOW_VA + WINDOW_SRAM_PAGE * (uint64_t)BH_PAGE_BYTES;

    for (uint64_t offset = 0; offset < (uint64_t)pages * BH_PAGE_BYTES; offset += BH_PAGE_BYTES) {
        ptable_map_page(system_pool(), paddr(system_status()->ttbr0_el2), address + offset,
                        paddr(first.value + offset), MMU_UNCACHED);
    }
    arch_dsb_sy();
    arch_isb();
    return (void *)(uintptr_t)address;
}
