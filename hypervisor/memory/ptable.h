/* SPDX-License-Identifier: Apache-2.0
 *
 * Translation tables with a 4 KiB granule and 39 bits of input address: three levels, one root frame. The
 * same format serves EL2's own stage 1 and the guests' stage 2 (DDI 0487, D8.3); only the attribute bits
 * differ, and those the caller gives. Builds tables that no walker uses yet, so it does no TLB maintenance:
 * entries of those in use change by table_update.h.
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

/* Size of output addresses as TCR_EL2.PS and VTCR_EL2.PS encode it: this core's, at most the 48 bits that our
 * descriptors hold. */
uint64_t ptable_output_size(void);

/* Creates an empty root. False when the pool is exhausted. */
bool ptable_create(struct pool *pool, paddr_t *root);

/* Maps [input, input + bytes) to [pa, pa + bytes), all page-aligned, with leaf attribute bits `attributes`,
 * in blocks of 1 GiB and 2 MiB where alignment allows. What is mapped already is replaced. False when the
 * pool is exhausted. */
bool ptable_map(struct pool *pool, paddr_t root, uint64_t input, paddr_t pa, uint64_t bytes,
                uint64_t attributes);

/* Creates the tables down to level 3 for [input, input + bytes) without mapping anything, so that
 * mapping pages cannot fail later. False when the pool is exhausted. */
bool ptable_prepare(struct pool *pool, paddr_t root, uint64_t input, uint64_t bytes);

/* Where the page at `input` is mapped to. False if it is not mapped. */
bool ptable_find(const struct pool *pool, paddr_t root, uint64_t input, paddr_t *pa);

/* An entry of a table. Walkers of every core read it: one 64-bit store each, never torn. 0: invalid. */
typedef volatile uint64_t ptable_entry_t;

#define PTABLE_VALID 1ull
#define PTABLE_PAGE  3ull /* kind of an entry at level 3 that maps a page */

/* The entry of the page at `input`, whose level-3 table exists; those of the next pages of that table follow.
 * It stays where it is: who maps the same pages again and again need not walk. */
ptable_entry_t *ptable_page_entry(const struct pool *pool, paddr_t root, uint64_t input);

/* The entry at level 2 for `input`, whose level-2 table exists; those of the next 2 MiB of that table follow.
 */
ptable_entry_t *ptable_block_entry(const struct pool *pool, paddr_t root, uint64_t input);

#ifdef __cplusplus
}
#endif

#endif
