/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows to physical memory. Only the core itself uses its windows, so no other TLB holds their entries.
 */
#include "memory/window.h"
#include "memory/mmu.h"
#include "memory/ptable.h"
#include "memory/table_update.h"
#include <arch/physical.h>

/* Above all addresses that the pool can use. */
#define WINDOW_VA 0x6000000000ull

_Static_assert(WINDOW_PAGES <= 512, "window_prepare() makes one table of pages");

/* Table entries of the pages from WINDOW_VA on. */
static ptable_entry_t *entries;

/* Page number of a core's window, counted from WINDOW_VA. */
static uint64_t page_of(uint32_t core, enum window window)
{
    return core * (uint64_t)WINDOW_COUNT + window;
}

static uint64_t address_of(uint64_t number)
{
    return WINDOW_VA + number * BH_PAGE_BYTES;
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
    uint64_t address = address_of(number);

    table_replace_el2(&entries[number], address, TABLE_OWN_CORE, page,
                      window == WINDOW_SOURCE ? MMU_UNCACHED_READ_ONLY : MMU_DATA);
    return el2_pointer(address, BH_PAGE_BYTES);
}

void window_close(uint32_t core, enum window window)
{
    uint64_t number = page_of(core, window);

    table_break_el2(&entries[number], address_of(number), TABLE_OWN_CORE);
}

void *window_sram(paddr_t first, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++) {
        table_make_el2(&entries[WINDOW_SRAM_PAGE + i], paddr(first.value + i * (uint64_t)BH_PAGE_BYTES),
                       MMU_UNCACHED);
    }
    return el2_pointer(address_of(WINDOW_SRAM_PAGE), pages * (uint64_t)BH_PAGE_BYTES);
}

void *window_tables(uint32_t first, const struct color_range *range, uint32_t count, uint64_t attributes)
{
    uint32_t page = WINDOW_TABLE_PAGE + first;

    for (uint32_t i = 0; i < count; i++) {
        table_make_el2(&entries[page + i], color_at(range, i * (uint64_t)BH_PAGE_BYTES), attributes);
    }
    return el2_pointer(address_of(page), count * (uint64_t)BH_PAGE_BYTES);
}
