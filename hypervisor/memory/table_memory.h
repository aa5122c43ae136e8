/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that stage-2 tables are in: the hypervisor's pool, and for domains with a specification of them
 * colored memory that nothing else is in, or memory on the chip. The manifest says who gets which; nothing is
 * decided here. no_table_memory.c is in its place where there is the pool alone.
 */
#ifndef BULKHEAD_TABLE_MEMORY_H
#define BULKHEAD_TABLE_MEMORY_H

#include "core/manifest.h"
#include "memory/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps what the manifest has of it into EL2's address space; `pool` is the hypervisor's. First core, with
 * windows (window.h), before domains are built. */
void table_memory_init(struct pool *pool, const struct manifest_header *manifest);

/* Where a domain's tables are: those that marked segments need, the root among them, or all others. */
struct pool *table_memory_of(const struct manifest_domain *domain, bool marked);
bool table_memory_is_marked(const struct manifest_segment *segment);

/* Whether walks may use the caches: one type of memory holds for all tables of a domain (VTCR_EL2). */
bool table_memory_is_cached(const struct manifest_domain *domain);

/* Where the table at `table` is, which belongs to a tree with tables in `pool`. */
const struct pool *table_memory_holding(const struct pool *pool, paddr_t table);

/* Nothing is allocated any more. */
void table_memory_seal(void);

#ifdef __cplusplus
}
#endif

#endif
