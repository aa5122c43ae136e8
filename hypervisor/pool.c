/* SPDX-License-Identifier: Apache-2.0
 *
 * The hypervisor's memory: a bump allocator over a colored range of frames.
 */
#include "pool.h"
#include <string.h>

bool pool_allocate(struct pool *pool, paddr_t *frame)
{
    if (pool->sealed || pool->used == pool->frames) {
        return false;
    }
    *frame = color_at(&pool->range, pool->used * BH_PAGE_BYTES);
    pool->used++;
    memset(pool_pointer(pool, *frame), 0, BH_PAGE_BYTES);
    return true;
}

void *pool_pointer(const struct pool *pool, paddr_t pa)
{
    if (pool->linear == NULL) {
        return (void *)(uintptr_t)pa.value;
    }
    return pool->linear + color_offset(&pool->range, pa);
}
