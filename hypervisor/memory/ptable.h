/* SPDX-License-Identifier: Apache-2.0
 *
 * Translation tables with a 4 KiB granule and 39 bits of input address: three levels, one root frame. EL2's
 * own stage 1 and the guests' stage 2 use the same format (DDI 0487, D8.3); only the attribute bits differ,
 * and the caller gives those. These functions build tables that no walker uses yet, so they do no TLB
 * maintenance. Entries of tables in use are changed by table_update.h.
 */
#ifndef BULKHEAD_PTABLE_H
#define BULKHEAD_PTABLE_H

#include "memory/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PTABLE_INPUT_BITS   39u
#define PTABLE_LEVEL1_SHIFT 30u
#define PTABLE_LEVEL2_SHIFT 21u
#define PTABLE_LEVEL3_SHIFT 12u

/* Size of output addresses as encoded in TCR_EL2.PS and VTCR_EL2.PS: that of this core, at most the 48 bits
 * of these descriptors. */
uint64_t ptable_output_size(void);

/* Allocates an empty root. Returns false if the pool is exhausted. */
bool ptable_create(struct pool *pool, paddr_t *root);

/* Maps [input, input + bytes) to [pa, pa + bytes), all page-aligned, with leaf attribute bits `attributes`,
 * in blocks of 1 GiB and 2 MiB where alignment allows. Existing mappings are replaced. Returns false if the
 * pool is exhausted. */
bool ptable_map(struct pool *pool, paddr_t root, uint64_t input, paddr_t pa, uint64_t bytes,
                uint64_t attributes);

/* Creates the tables down to level 3 for [input, input + bytes) without mapping anything, so that mapping
 * pages later cannot fail. Returns false if the pool is exhausted. */
bool ptable_prepare(struct pool *pool, paddr_t root, uint64_t input, uint64_t bytes);

/* Finds the physical address to which `input` is mapped. Returns false if it is not mapped. */
bool ptable_find(const struct pool *pool, paddr_t root, uint64_t input, paddr_t *pa);

/* An entry of a table. Walkers of all cores read it, so each change is one 64-bit store. 0: invalid. */
typedef volatile uint64_t ptable_entry_t;

#define PTABLE_VALID 1ull
#define PTABLE_PAGE  3ull /* descriptor type of an entry at level 3 that maps a page */

/* The entry of the page at `input`, whose level-3 table must exist; the entries of the following pages of
 * that table follow it. The entry never moves, so code that maps the same pages repeatedly can keep the
 * pointer. */
ptable_entry_t *ptable_page_entry(const struct pool *pool, paddr_t root, uint64_t input);

/* The entry at level 2 for `input`, whose level-2 table must exist; the entries of the following 2 MiB blocks
 * of that table follow it. */
ptable_entry_t *ptable_block_entry(const struct pool *pool, paddr_t root, uint64_t input);

#ifdef __cplusplus
}
#endif

#endif
