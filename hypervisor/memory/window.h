/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows: pages of EL2's address space, a few for each core, through which a core temporarily accesses
 * physical memory that is not the hypervisor's: to load a domain's images again, and to write the doors to
 * brokers.
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
    WINDOW_SOURCE,      /* read past the caches: leaves no lines in a domain's colors */
    WINDOW_DESTINATION, /* cached, like the domain's own accesses */
    WINDOW_DOOR,        /* two pages of each broker (flow/door.h): cached, and left open */
    WINDOW_REPLY,
    WINDOW_SECOND_DOOR,
    WINDOW_SECOND_REPLY,
    WINDOW_COUNT,
};

/* Page numbers, counted from the first window: after the windows of all cores there is one page that is never
 * mapped, then on-chip memory for samples, and memory for stage-2 tables. */
#define WINDOW_SRAM_PAGE  (BH_MAX_CORES * (uint32_t)WINDOW_COUNT + 1)
#define WINDOW_TABLE_PAGE (WINDOW_SRAM_PAGE + WINDOW_SRAM_PAGES)
#define WINDOW_PAGES      (WINDOW_TABLE_PAGE + BH_MAX_TABLE_FRAMES)

/* Builds the windows' tables at boot. Returns false if the pool is exhausted. */
bool window_prepare(struct pool *pool, paddr_t root);

/* Called with the MMU on, before the first window is opened. */
void window_init(const struct pool *pool, paddr_t root);

/* Maps the page at `page` into a window of the executing core, whose index is `core`. The pointer is valid
 * until the window is opened again or closed. */
void *window_open(uint32_t core, enum window window, paddr_t page);
void window_close(uint32_t core, enum window window);

/* Maps on-chip memory permanently: `pages` pages from `first` on, at most WINDOW_SRAM_PAGES. It is mapped
 * uncached, because its addresses have no color. Called on the first core, before the others are started. */
void *window_sram(paddr_t first, uint32_t pages);

/* Maps `count` pages of `range` permanently, in its order, from page number `first` of the
 * BH_MAX_TABLE_FRAMES pages for stage-2 tables on, with `attributes` of mmu.h. Called on the first core,
 * before the others are started. */
void *window_tables(uint32_t first, const struct color_range *range, uint32_t count, uint64_t attributes);

#ifdef __cplusplus
}
#endif

#endif
