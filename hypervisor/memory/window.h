/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows: pages of EL2's address space, a few per core, through which a core reaches physical memory that is
 * not the hypervisor's, for as long as it must: to load a domain's images again, and to tell the broker
 * something.
 */
#ifndef BULKHEAD_WINDOW_H
#define BULKHEAD_WINDOW_H

#include "core/address.h"
#include "memory/pool.h"
#include <bulkhead_layout.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WINDOW_SRAM_PAGES (BH_MAX_CORES * BH_SAMPLE_FRAMES)

enum window {
    WINDOW_SOURCE,      /* read past the caches: leaves no lines in anybody's colors */
    WINDOW_DESTINATION, /* cached, as the domain itself sees it */
    WINDOW_DOOR,        /* two pages of the broker (flow/door.h): cached, and left open */
    WINDOW_REPLY,
    WINDOW_COUNT,
};

/* Of EL2's address space, from the first window on: of all cores, a page that is never there, on-chip memory
 * for samples, and memory for stage-2 tables. */
#define WINDOW_SRAM_PAGE  (BH_MAX_CORES * (uint32_t)WINDOW_COUNT + 1)
#define WINDOW_TABLE_PAGE (WINDOW_SRAM_PAGE + WINDOW_SRAM_PAGES)
#define WINDOW_PAGES      (WINDOW_TABLE_PAGE + BH_MAX_TABLE_FRAMES)

/* Prepares the tables at boot. False when the pool is exhausted. */
bool window_prepare(struct pool *pool, paddr_t root);

/* With the MMU on, before the first window is opened. */
void window_init(const struct pool *pool, paddr_t root);

/* Maps the page at `page` into a window of the core that executes this, whose index is `core`. The pointer is
 * valid until the window is opened again or closed. */
void *window_open(uint32_t core, enum window window, paddr_t page);
void window_close(uint32_t core, enum window window);

/* Maps on-chip memory for good, behind the windows: `pages` of it from `first` on, at most WINDOW_SRAM_PAGES.
 * Past the caches, whose colors it does not have. First core, before the others are started. */
void *window_sram(paddr_t first, uint32_t pages);

/* Maps `count` pages of `range` for good, in its order, as page `first` and those behind it of the
 * BH_MAX_TABLE_FRAMES for stage-2 tables, with `attributes` of mmu.h. First core, before the others are
 * started. */
void *window_tables(uint32_t first, const struct color_range *range, uint32_t count, uint64_t attributes);

#ifdef __cplusplus
}
#endif

#endif
