/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Translation of guest-physical to physical addresses by the segments of a domain.
 */
#include "core/segment_map.h"

#include <stddef.h>

const struct manifest_segment *segment_map_find(const struct segment_map *map, uint64_t ipa)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const struct manifest_segment *segment = &map->segments[i];

        if (ipa >= segment->ipa && ipa - segment->ipa < segment->bytes) {
            return segment;
        }
    }
    return NULL;
}

bool segment_map_owns(const struct segment_map *map, uint64_t at, uint64_t bytes)
{
    const struct manifest_segment *segment = segment_map_find(map, at);

    /* Segments do not overlap, so each is passed at most once. */
    while (segment != NULL && bytes > segment->bytes - (at - segment->ipa)) {
        bytes -= segment->bytes - (at - segment->ipa);
        at = segment->ipa + segment->bytes;
        segment = segment_map_find(map, at);
    }
    return segment != NULL;
}

struct placement segment_map_at(const struct segment_map *map, uint64_t ipa, uint64_t most)
{
    const struct manifest_segment *segment = segment_map_find(map, ipa);
    struct placement place = {0};
    struct color_range range;
    uint64_t granule;

    if (segment == NULL) {
        return place;
    }
    range = (struct color_range){map->space, &map->sets[segment->color_set], paddr(segment->pa)};
    granule = color_granule_bytes(range.space);
    place.pa = color_at(&range, ipa - segment->ipa);
    place.bytes = segment->ipa + segment->bytes - ipa;
    if (range.space.bits != 0 && place.bytes > granule - (place.pa.value & (granule - 1))) {
        place.bytes = granule - (place.pa.value & (granule - 1));
    }
    if (place.bytes > most) {
        place.bytes = most;
    }
    return place;
}
