/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The part of a domain's memory that the broker reaches, by the flags of its segments.
 */
#include "core/socket_reach.h"

/* The first run of segments of the domain whose flags in `mask` are `flags`. */
static struct socket_reach run_of(const struct manifest_segment *segments,
                                  const struct manifest_domain *domain, uint32_t mask, uint32_t flags)
{
    struct socket_reach reach = {domain->first_segment, 0, false};
    uint32_t end = domain->first_segment + domain->segment_count;

    for (uint32_t i = domain->first_segment; i < end; i++) {
        if ((segments[i].flags & mask) == flags) {
            reach.first_segment = reach.segment_count == 0 ? i : reach.first_segment;
            reach.segment_count++;
        } else if (reach.segment_count != 0) {
            break;
        }
    }
    return reach;
}

struct socket_reach socket_reach_of(const struct manifest_header *manifest,
                                    const struct manifest_domain *domain)
{
    const struct manifest_segment *segments = manifest_segments(manifest);
    struct socket_reach pool =
        run_of(segments, domain, BH_SEGMENT_FLAG_SOCKET_POOL, BH_SEGMENT_FLAG_SOCKET_POOL);

    if (pool.segment_count != 0) {
        pool.is_pool = true;
        return pool;
    }
    return run_of(segments, domain, BH_SEGMENT_FLAG_READ_ONLY, 0);
}
