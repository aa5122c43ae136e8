/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces table_memory.c in programs with spatial isolation only: all tables are in the hypervisor's pool.
 */
#include "memory/table_memory.h"

static struct pool *hypervisor_pool;

void table_memory_init(struct pool *pool, const struct manifest_header *manifest)
{
    (void)manifest;
    hypervisor_pool = pool;
}

struct pool *table_memory_of(const struct manifest_domain *domain, bool marked)
{
    (void)domain;
    (void)marked;
    return hypervisor_pool;
}

bool table_memory_is_marked(const struct manifest_segment *segment)
{
    (void)segment;
    return false;
}

bool table_memory_is_cached(const struct manifest_domain *domain)
{
    (void)domain;
    return true;
}

const struct pool *table_memory_holding(const struct pool *pool, paddr_t table)
{
    (void)table;
    return pool;
}

void table_memory_seal(void)
{
    hypervisor_pool->sealed = true;
}
