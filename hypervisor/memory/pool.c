/* SPDX-License-Identifier: Apache-2.0
 *
 * The hypervisor's memory: a bump allocator over a colored range of frames.
 */
#include "memory/pool.h"
#include "memory/cache.h"
#include <arch/physical.h>
#include <string.h>

bool pool_allocate(struct pool *pool, paddr_t *frame)
{
    if (pool->sealed || pool->used == pool->frames) {
        return false;
    }
    *frame = color_at(&pool->range, pool->used * BH_PAGE_BYTES);
    if (pool->linear == NULL) {
        cache_clean(*frame, BH_PAGE_BYTES);
        memset(phys_pointer(*frame), 0, BH_PAGE_BYTES);
    } else {
        memset(pool->linear + pool->used * BH_PAGE_BYTES, 0, BH_PAGE_BYTES);
    }
    pool->used++;
    return true;
}

void *pool_pointer(const struct pool *pool, paddr_t pa)
{
    if (pool->linear == NULL) {
        return phys_pointer(pa);
    }
    return pool->linear + color_offset(&pool->range, pa);
}

void *pool_allocate_bytes(struct pool *pool, uint64_t bytes)
{
    paddr_t first;
    paddr_t frame;

    if (!pool_allocate(pool, &first)) {
        return NULL;
    }
    for (uint64_t done = BH_PAGE_BYTES; done < bytes; done += BH_PAGE_BYTES) {
        if (!pool_allocate(pool, &frame)) {
            return NULL;
        }
    }
    return pool_pointer(pool, first);
}

uint32_t pool_frame_number(const struct pool *pool, const void *pointer)
{
    return (uint32_t)((uint64_t)((const char *)pointer - pool->linear) / BH_PAGE_BYTES);
}
