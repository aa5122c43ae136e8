/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for stage-2 tables: the hypervisor's pool, or, for domains whose manifest entry asks for it, colored
 * memory used for nothing else, or on-chip memory. The manifest decides which domain gets which.
 * no_table_memory.c replaces this module in programs that have only the hypervisor's pool.
 */
#ifndef BULKHEAD_TABLE_MEMORY_H
#define BULKHEAD_TABLE_MEMORY_H

#include "core/manifest.h"
#include "memory/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the manifest's memory for tables into EL2's address space; `pool` is the hypervisor's. Called on the
 * first core, after window_init() (window.h) and before domains are built. */
void table_memory_init(struct pool *pool, const struct manifest_header *manifest);

/* The pool for a domain's tables: those that marked segments need, including the root, if `marked`; otherwise
 * all others. */
struct pool *table_memory_of(const struct manifest_domain *domain, bool marked);
bool table_memory_is_marked(const struct manifest_segment *segment);

/* True if walks may use the caches. The memory type of walks is the same for all tables of a domain
 * (VTCR_EL2). */
bool table_memory_is_cached(const struct manifest_domain *domain);

/* The pool that contains the table at `table`, which belongs to a tree with tables in `pool`. */
const struct pool *table_memory_holding(const struct pool *pool, paddr_t table);

/* No table can be allocated any more. */
void table_memory_seal(void);

#ifdef __cplusplus
}
#endif

#endif
