/* SPDX-License-Identifier: Apache-2.0
 *
 * Placement of guest memory, from the manifest.
 */
#include "memory/placement.h"

struct segment_map placement_map(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    return (struct segment_map){
        .segments = manifest_segments(manifest) + domain->first_segment,
        .count = domain->segment_count,
        .space = manifest_color_space(manifest),
        .sets = manifest_color_set(manifest, 0),
    };
}

const struct manifest_segment *placement_segment(const struct manifest_header *manifest,
                                                 const struct manifest_domain *domain, uint64_t ipa)
{
    struct segment_map map = placement_map(manifest, domain);

    return segment_map_find(&map, ipa);
}

struct placement placement_of(const struct manifest_header *manifest, const struct manifest_domain *domain,
                              uint64_t ipa, uint64_t most)
{
    struct segment_map map = placement_map(manifest, domain);

    return segment_map_at(&map, ipa, most);
}
