/* SPDX-License-Identifier: Apache-2.0
 *
 * Where guest memory is.
 */
#include "memory/placement.h"
#include <stddef.h>

const struct manifest_segment *placement_segment(const struct manifest_header *manifest,
                                                 const struct manifest_domain *domain, uint64_t ipa)
{
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;

    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if (ipa >= segments[i].ipa && ipa - segments[i].ipa < segments[i].bytes) {
            return &segments[i];
        }
    }
    return NULL;
}

struct placement placement_of(const struct manifest_header *manifest, const struct manifest_domain *domain,
                              uint64_t ipa, uint64_t most)
{
    const struct manifest_segment *segment = placement_segment(manifest, domain, ipa);
    struct placement place = {0};
    struct color_range range;
    uint64_t granule;

    if (segment == NULL) {
        return place;
    }
    range = manifest_segment_range(manifest, segment);
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
