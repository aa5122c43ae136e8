/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows into physical memory. Only the core itself uses its pages, so invalidating its own TLB is enough.
 */
#include "memory/window.h"
#include "memory/mmu.h"
#include "memory/ptable.h"
#include <arch/barrier.h>
#include <arch/physical.h>

/* Behind everything the pool can hold. */
#define WINDOW_VA 0x6000000000ull

_Static_assert(WINDOW_PAGES <= 512, "window_prepare() makes one table of pages");

/* Of the pages from WINDOW_VA on. */
static ptable_entry_t *entries;

/* Of a core's window: from WINDOW_VA on, in pages. */
static uint64_t page_of(uint32_t core, enum window window)
{
    return core * (uint64_t)WINDOW_COUNT + window;
}

bool window_prepare(struct pool *pool, paddr_t root)
{
    return ptable_prepare(pool, root, WINDOW_VA, WINDOW_PAGES * (uint64_t)BH_PAGE_BYTES);
}

void window_init(const struct pool *pool, paddr_t root)
{
    entries = ptable_page_entry(pool, root, WINDOW_VA);
}

void *window_open(uint32_t core, enum window window, paddr_t page)
{
    uint64_t number = page_of(core, window);

    if (entries[number] != 0) {
        window_close(core, window);
    }
    ptable_map_page(&entries[number], page, window == WINDOW_SOURCE ? MMU_UNCACHED_READ_ONLY : MMU_DATA);
    arch_dsb_sy();
    arch_isb();
    return el2_pointer(WINDOW_VA + number * BH_PAGE_BYTES, BH_PAGE_BYTES);
}

void window_close(uint32_t core, enum window window)
{
    uint64_t number = page_of(core, window);

    ptable_unmap_page(&entries[number]);
    arch_tlbi_local_el2(WINDOW_VA + number * BH_PAGE_BYTES);
}

void *window_sram(paddr_t first, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++) {
        ptable_map_page(&entries[WINDOW_SRAM_PAGE + i], paddr(first.value + i * (uint64_t)BH_PAGE_BYTES),
                        MMU_UNCACHED);
    }
    arch_dsb_sy();
    arch_isb();
    return el2_pointer(WINDOW_VA + WINDOW_SRAM_PAGE * (uint64_t)BH_PAGE_BYTES,
                       pages * (uint64_t)BH_PAGE_BYTES);
}
