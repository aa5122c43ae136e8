/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows into physical memory. Only this core uses its pages, so invalidating its own TLB is enough.
 */
#include "memory/window.h"
#include "memory/mmu.h"
#include "memory/ptable.h"
#include "vm/cpu.h"
#include <arch/barrier.h>

/* Behind everything the pool can hold. */
#define WINDOW_VA 0x6000000000ull

_Static_assert(WINDOW_PAGES <= 512, "window_prepare() makes one table of pages");

/* Of the pages from WINDOW_VA on. */
static ptable_entry_t *entries;

/* Of this core's window: from WINDOW_VA on, in pages. */
static uint64_t page_of(enum window window)
{
    return this_cpu()->index * (uint64_t)WINDOW_COUNT + window;
}

bool window_prepare(struct pool *pool, paddr_t root)
{
    return ptable_prepare(pool, root, WINDOW_VA, WINDOW_PAGES * (uint64_t)BH_PAGE_BYTES);
}

void window_init(const struct pool *pool, paddr_t root)
{
    entries = ptable_page_entry(pool, root, WINDOW_VA);
}

void *window_open(enum window window, paddr_t page)
{
    uint64_t number = page_of(window);
    uint64_t address = WINDOW_VA + number * BH_PAGE_BYTES;

    if (entries[number] != 0) {
        window_close(window);
    }
    ptable_map_page(&entries[number], page, window == WINDOW_SOURCE ? MMU_UNCACHED_READ_ONLY : MMU_DATA);
    arch_dsb_sy();
    arch_isb();
    return (void *)(uintptr_t)address;
}

void window_close(enum window window)
{
    uint64_t number = page_of(window);

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
    return (void *)(uintptr_t)(WINDOW_VA + WINDOW_SRAM_PAGE * (uint64_t)BH_PAGE_BYTES);
}
