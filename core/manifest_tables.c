/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the memory for stage-2 tables that have a placement specification: where the memory is, that it has
 * no other owner, and that it exists for the domains to which the manifest assigns it. The planner has
 * decided which domain gets which part. Part of manifest_check().
 */
#include "core/manifest_internal.h"

bool manifest_tables_range(const struct manifest_header *manifest, struct color_range *range)
{
    const struct manifest_tables *tables = &manifest->tables;

    if (tables->colored_bytes == 0) {
        return false;
    }
    *range =
        (struct color_range){manifest_color_space(manifest),
                             manifest_color_set(manifest, tables->colored_set), paddr(tables->colored_pa)};
    return true;
}

/* The colored part consists of whole pages in one piece of RAM. If there is none, its fields are zero. */
static bool colored_is_sound(const struct manifest_header *manifest)
{
    const struct manifest_tables *tables = &manifest->tables;
    struct color_range range;

    if (tables->colored_bytes == 0) {
        return tables->colored_pa == 0 && tables->colored_set == 0;
    }
    return manifest->platform.color_bits != 0 && tables->colored_set < manifest->color_sets.count &&
           is_page_aligned(tables->colored_bytes) && manifest_tables_range(manifest, &range) &&
           manifest_is_in_ram(manifest, &range, tables->colored_bytes);
}

/* The check of the region table covers the part that is in on-chip memory. */
bool manifest_check_tables(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_tables *tables = &manifest->tables;
    uint64_t most = (uint64_t)BH_MAX_TABLE_FRAMES * BH_PAGE_BYTES;
    struct color_range pool = manifest_pool_range(manifest);
    struct color_range range;

    if (tables->on_chip_bytes > most || tables->colored_bytes > most - tables->on_chip_bytes ||
        (tables->on_chip_bytes == 0) != (tables->on_chip_pa == 0) || tables->on_chip_cached > 1 ||
        !colored_is_sound(manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_TABLES, tables);
    }
    if (manifest_tables_range(manifest, &range) &&
        color_ranges_overlap(&range, tables->colored_bytes, &pool, manifest->hypervisor.pool_bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_FRAME_SHARED, &tables->colored_pa);
    }
    return true;
}

bool manifest_check_table_memory(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_tables *tables = &check->manifest->tables;
    uint32_t which = domain->table_memory;

    if (which >= BH_TABLE_MEMORY_COUNT || (which == BH_TABLE_MEMORY_COLORED && tables->colored_bytes == 0) ||
        (which == BH_TABLE_MEMORY_ON_CHIP && tables->on_chip_bytes == 0)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_TABLES, &domain->table_memory);
    }
    return true;
}
