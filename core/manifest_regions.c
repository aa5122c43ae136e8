/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Looks up regions in the generated table, and checks that a manifest's regions agree with it. The check is
 * part of manifest_check().
 */
#include "core/manifest_regions.h"
#include "core/manifest_internal.h"

static const struct bh_region rows[BH_REGION_COUNT] = {BH_REGION_ROWS};

static uint64_t word_at(const struct manifest_header *manifest, uint32_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)manifest + offset);
}

bool manifest_region(const struct manifest_header *manifest, uint32_t index, struct manifest_region *region)
{
    const struct bh_region *row = &rows[index];

    *region = (struct manifest_region){
        .pa = word_at(manifest, row->pa_offset),
        .bytes = row->bytes_offset == 0 ? row->bytes : word_at(manifest, row->bytes_offset),
        .guest_bytes = row->guest_bytes + manifest->cpus.count * row->guest_bytes_per_core,
        .pa_offset = row->pa_offset,
        .mapped = row->mapped != 0,
    };
    return region->pa != 0 && (row->gic_version == 0 || row->gic_version == manifest->platform.gic_version);
}

uint32_t manifest_region_at(const struct manifest_header *manifest, uint64_t pa, uint64_t bytes)
{
    struct manifest_region region;
    uint32_t index = 0;

    while (index < BH_REGION_COUNT && !(manifest_region(manifest, index, &region) &&
                                        ranges_overlap(pa, bytes, region.pa, region.bytes))) {
        index++;
    }
    return index;
}

bool manifest_is_guest_region(const struct manifest_header *manifest, uint64_t ipa, uint64_t bytes)
{
    struct manifest_region region;

    for (uint32_t i = 0; i < BH_REGION_COUNT; i++) {
        if (manifest_region(manifest, i, &region) && region.guest_bytes != 0 &&
            ranges_overlap(ipa, bytes, region.pa, region.guest_bytes)) {
            return true;
        }
    }
    return false;
}

/* Regions are whole pages at addresses that EL2 can map, and overlap neither RAM nor earlier regions. */
static bool is_sound(const struct manifest_header *manifest, uint32_t index)
{
    struct manifest_region region;
    struct manifest_region other;

    if (!manifest_region(manifest, index, &region)) {
        return region.pa != 0 || rows[index].bytes_offset == 0 || region.bytes == 0;
    }
    if (region.bytes == 0 || !is_page_aligned(region.pa) || !is_page_aligned(region.bytes) ||
        !range_within(region.pa, region.bytes, 0, region.mapped ? BH_MAPPED_LIMIT : MANIFEST_PA_LIMIT)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->ram.count; i++) {
        const struct manifest_ram *ram = &manifest_ram_ranges(manifest)[i];

        if (ranges_overlap(region.pa, region.bytes, ram->pa, ram->bytes)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < index; i++) {
        if (manifest_region(manifest, i, &other) &&
            ranges_overlap(region.pa, region.bytes, other.pa, other.bytes)) {
            return false;
        }
    }
    return true;
}

bool manifest_check_regions(struct manifest_check *check)
{
    for (uint32_t i = 0; i < BH_REGION_COUNT; i++) {
        if (!is_sound(check->manifest, i)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM,
                                   (const char *)check->manifest + rows[i].pa_offset);
        }
    }
    return true;
}
