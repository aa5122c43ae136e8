/* SPDX-License-Identifier: Apache-2.0
 *
 * Translation tables with a 4 KiB granule and 39 bits of input address: three levels, one root frame. The
 * same format serves EL2's own stage 1 and the guests' stage 2 (DDI 0487, D8.3); only the attribute bits
 * differ, and those the caller gives. Does no TLB maintenance: entries are only ever added.
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
 * ptable_map_page() cannot fail later. False when the pool is exhausted. */
bool ptable_prepare(struct pool *pool, paddr_t root, uint64_t input, uint64_t bytes);

/* Maps `count` pages from `input` on, all under one level-3 table, which exists. */
void ptable_map_pages(const struct pool *pool, paddr_t root, uint64_t input, const paddr_t *pages,
                      uint32_t count, uint64_t attributes);

/* Where the page at `input` is mapped to. False if it is not mapped. */
bool ptable_find(const struct pool *pool, paddr_t root, uint64_t input, paddr_t *pa);

/* An entry of a table. Walkers of every core read it: one 64-bit store each, never torn. */
typedef volatile uint64_t ptable_entry_t;

/* The entry of the page at `input`, whose level-3 table exists; those of the next pages of that table follow.
 * It stays where it is: who maps the same pages again and again need not walk. */
ptable_entry_t *ptable_page_entry(const struct pool *pool, paddr_t root, uint64_t input);

/* Maps a page, and removes the mapping; then the caller invalidates the TLBs. */
void ptable_map_page(ptable_entry_t *entry, paddr_t pa, uint64_t attributes);
void ptable_unmap_page(ptable_entry_t *entry);

#ifdef __cplusplus
}
#endif

#endif
