/* SPDX-License-Identifier: Apache-2.0
 *
 * Where guest memory is.
 */
#include "placement.h"

static const struct manifest_segment *segment_at(const struct manifest_header *manifest,
                                                 const struct manifest_domain *domain, uint64_t ipa)
{
    const struct manifest_segment *segment = manifest_segments(manifest) + domain->first_segment;

    while (ipa < segment->ipa || ipa - segment->ipa >= segment->bytes) {
        segment++;
    }
    return segment;
}

struct placement placement_of(const struct manifest_header *manifest, const struct manifest_domain *domain,
                              uint64_t ipa, uint64_t most)
{
    const struct manifest_segment *segment = segment_at(manifest, domain, ipa);
    struct color_range range = manifest_segment_range(manifest, segment);
    uint64_t granule = color_granule_bytes(range.space);
    struct placement place = {
        .pa = color_at(&range, ipa - segment->ipa),
        .bytes = segment->ipa + segment->bytes - ipa,
    };

    if (range.space.bits != 0 && place.bytes > granule - (place.pa.value & (granule - 1))) {
        place.bytes = granule - (place.pa.value & (granule - 1));
    }
    if (place.bytes > most) {
        place.bytes = most;
    }
    return place;
}
