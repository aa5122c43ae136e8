/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the ownership of memory: the hypervisor's pool, the memory for tables and every domain's segments
 * lie in RAM, guest addresses do not collide, and no frame has two owners. Part of manifest_check().
 */
#include "core/manifest_internal.h"
#include "core/manifest_regions.h"

/* Enough for the image, the manifest, stacks and a first set of tables. A smaller pool is a configuration
 * error. */
#define SMALLEST_POOL_BYTES 0x80000u
/* Bytes of the pool that EL2's address space covers, and the address below which the page must lie that EL2
 * maps at its physical address. */
#define LARGEST_POOL_BYTES  (1ull << 37)
#define POOL_START_LIMIT    (1ull << 38)

bool color_ranges_overlap(const struct color_range *a, uint64_t a_bytes, const struct color_range *b,
                          uint64_t b_bytes)
{
    uint64_t start = a->first.value > b->first.value ? a->first.value : b->first.value;
    uint64_t a_end = color_end(a, a_bytes).value;
    uint64_t b_end = color_end(b, b_bytes).value;
    uint64_t end = a_end < b_end ? a_end : b_end;
    uint64_t granule = color_granule_bytes(a->space);
    struct color_set both = color_set_intersection(a->set, b->set);
    paddr_t next;

    if (a->space.bits == 0) {
        return start < end;
    }
    return color_next(a->space, &both, paddr(start & ~(granule - 1)), &next) && next.value < end;
}

const void *manifest_owner_of(const struct manifest_header *manifest, uint64_t pa, uint64_t bytes)
{
    static const struct color_set every_color = {{~0ull, ~0ull, ~0ull, ~0ull}};
    uint64_t granule = color_granule_bytes(manifest_color_space(manifest));
    uint64_t start = pa & ~(granule - 1);
    struct color_range area = {manifest_color_space(manifest), &every_color, paddr(start)};
    struct color_range owned = manifest_pool_range(manifest);
    struct manifest_region region;
    uint32_t index = manifest_region_at(manifest, pa, bytes);

    if (index != BH_REGION_COUNT) {
        (void)manifest_region(manifest, index, &region);
        return (const char *)manifest + region.pa_offset;
    }
    for (uint32_t i = 0; i < manifest->devices.count; i++) {
        const struct manifest_device *device = &manifest_devices(manifest)[i];

        if (ranges_overlap(pa, bytes, device->pa, device->bytes)) {
            return &device->pa;
        }
    }
    bytes += pa - start;
    if (color_ranges_overlap(&area, bytes, &owned, manifest->hypervisor.pool_bytes)) {
        return &manifest->hypervisor.pool_pa;
    }
    if (manifest_tables_range(manifest, &owned) &&
        color_ranges_overlap(&area, bytes, &owned, manifest->tables.colored_bytes)) {
        return &manifest->tables.colored_pa;
    }
    for (uint32_t i = 0; i < manifest->segments.count; i++) {
        const struct manifest_segment *segment = &manifest_segments(manifest)[i];

        owned = manifest_segment_range(manifest, segment);
        if (color_ranges_overlap(&area, bytes, &owned, segment->bytes)) {
            return &segment->pa;
        }
    }
    return NULL;
}

/* Whether the range starts in a granule of its set and ends in the piece of RAM in which it starts. */
bool manifest_is_in_ram(const struct manifest_header *manifest, const struct color_range *range,
                        uint64_t bytes)
{
    const struct manifest_ram *ram = manifest_ram_ranges(manifest);
    uint64_t start = range->first.value;
    uint64_t end;

    if ((start & (color_granule_bytes(range->space) - 1)) != 0 || start >= MANIFEST_PA_LIMIT ||
        (range->space.bits != 0 && !color_set_has(range->set, color_of(range->space, range->first)))) {
        return false;
    }
    end = color_end(range, bytes).value;
    for (uint32_t i = 0; i < manifest->ram.count; i++) {
        if (start >= ram[i].pa && end > start && end <= ram[i].pa + ram[i].bytes) {
            return true;
        }
    }
    return false;
}

static bool check_pool(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_hypervisor *hypervisor = &manifest->hypervisor;
    struct color_range range;

    if (hypervisor->pool_color_set >= manifest->color_sets.count ||
        hypervisor->pool_bytes < SMALLEST_POOL_BYTES || hypervisor->pool_bytes > LARGEST_POOL_BYTES ||
        !is_page_aligned(hypervisor->pool_bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_POOL, &hypervisor->pool_bytes);
    }
    range = manifest_pool_range(manifest);
    if (hypervisor->pool_pa >= POOL_START_LIMIT ||
        !manifest_is_in_ram(manifest, &range, hypervisor->pool_bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_POOL, &hypervisor->pool_pa);
    }
    return true;
}

static bool check_segment(struct manifest_check *check, const struct manifest_segment *segment)
{
    const struct manifest_header *manifest = check->manifest;
    struct color_range range;

    if (segment->color_set >= manifest->color_sets.count || segment->bytes == 0 ||
        (segment->flags & ~manifest_segment_flags) != 0 || !is_page_aligned(segment->bytes) ||
        !is_page_aligned(segment->ipa) ||
        !range_within(segment->ipa, segment->bytes, 0, MANIFEST_IPA_LIMIT) ||
        manifest_is_guest_region(manifest, segment->ipa, segment->bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_SEGMENT, segment);
    }
    range = manifest_segment_range(manifest, segment);
    if (!manifest_is_in_ram(manifest, &range, segment->bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_SEGMENT, &segment->pa);
    }
    return true;
}

/* Compares a segment with the pool, the memory for tables and all earlier segments of any domain. */
static bool check_sole_owner(struct manifest_check *check, const struct manifest_segment *segment)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_segment *segments = manifest_segments(manifest);
    struct color_range range = manifest_segment_range(manifest, segment);
    struct color_range other = manifest_pool_range(manifest);

    if (color_ranges_overlap(&range, segment->bytes, &other, manifest->hypervisor.pool_bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_FRAME_SHARED, segment);
    }
    if (manifest_tables_range(manifest, &other) &&
        color_ranges_overlap(&range, segment->bytes, &other, manifest->tables.colored_bytes)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_FRAME_SHARED, segment);
    }
    for (const struct manifest_segment *before = segments; before < segment; before++) {
        other = manifest_segment_range(manifest, before);
        if (color_ranges_overlap(&range, segment->bytes, &other, before->bytes)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_FRAME_SHARED, segment);
        }
    }
    return true;
}

bool manifest_check_memory(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_segment *segments = manifest_segments(manifest);

    if (!check_pool(check) || !manifest_check_tables(check)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->segments.count; i++) {
        if (!check_segment(check, &segments[i]) || !check_sole_owner(check, &segments[i])) {
            return false;
        }
    }
    return true;
}
