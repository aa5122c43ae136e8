/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for stage-2 tables. A domain with tables in on-chip memory has all its tables there, because the
 * memory type of walks is the same for all of them. On-chip frames have all colors, so if caches are colored,
 * walks bypass them. EL2 accesses tables with the same memory type as the walks. A domain with colored table
 * memory has its other tables in the hypervisor's pool.
 */
#include "memory/table_memory.h"
#include "memory/cache.h"
#include "memory/mmu.h"
#include "memory/window.h"
#include <arch/barrier.h>

static struct pool *hypervisor_pool;
static struct pool colored;
static struct pool on_chip;
static bool on_chip_cached;

/* Firmware may have left dirty lines of this memory, which would be written back over the tables. */
static void clean(const char *linear, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes; done += CACHE_LINE_BYTES) {
        arch_dcache_clean_invalidate_line((uintptr_t)linear + done);
    }
    arch_dsb_sy();
}

void table_memory_init(struct pool *pool, const struct manifest_header *manifest)
{
    const struct manifest_tables *tables = &manifest->tables;

    hypervisor_pool = pool;
    colored = (struct pool){.frames = tables->colored_bytes / BH_PAGE_BYTES};
    on_chip = (struct pool){
        .range = {.first = paddr(tables->on_chip_pa)},
        .frames = tables->on_chip_bytes / BH_PAGE_BYTES,
    };
    on_chip_cached = tables->on_chip_cached != 0;
    if (on_chip.frames != 0) {
        on_chip.linear = window_tables(0, &on_chip.range, (uint32_t)on_chip.frames,
                                       on_chip_cached ? MMU_DATA : MMU_UNCACHED);
        clean(on_chip.linear, tables->on_chip_bytes);
    }
    if (manifest_tables_range(manifest, &colored.range)) {
        colored.linear =
            window_tables((uint32_t)on_chip.frames, &colored.range, (uint32_t)colored.frames, MMU_DATA);
    }
}

struct pool *table_memory_of(const struct manifest_domain *domain, bool marked)
{
    switch (domain->table_memory) {
    case BH_TABLE_MEMORY_ON_CHIP:
        return &on_chip;
    case BH_TABLE_MEMORY_COLORED:
        return marked ? &colored : hypervisor_pool;
    default:
        return hypervisor_pool;
    }
}

bool table_memory_is_marked(const struct manifest_segment *segment)
{
    return (segment->flags & BH_SEGMENT_FLAG_TABLES_PLACED) != 0;
}

bool table_memory_is_cached(const struct manifest_domain *domain)
{
    return domain->table_memory != BH_TABLE_MEMORY_ON_CHIP || on_chip_cached;
}

static bool colored_has(paddr_t pa)
{
    return pa.value >= colored.range.first.value &&
           color_set_has(colored.range.set, color_of(colored.range.space, pa)) &&
           color_offset(&colored.range, pa) < colored.frames * BH_PAGE_BYTES;
}

const struct pool *table_memory_holding(const struct pool *pool, paddr_t table)
{
    if (colored.frames == 0 || pool == &on_chip) {
        return pool;
    }
    return colored_has(table) ? &colored : hypervisor_pool;
}

void table_memory_seal(void)
{
    hypervisor_pool->sealed = true;
    colored.sealed = true;
    on_chip.sealed = true;
}
