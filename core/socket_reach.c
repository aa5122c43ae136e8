/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The part of a domain's memory that the broker reaches, by the flags of its segments.
 */
#include "core/socket_reach.h"

struct socket_reach socket_reach_of(const struct manifest_header *manifest,
                                    const struct manifest_domain *domain)
{
    const struct manifest_segment *segments = manifest_segments(manifest);
    uint32_t end = domain->first_segment + domain->segment_count;
    struct socket_reach reach = {domain->first_segment, domain->segment_count, false};

    for (uint32_t i = domain->first_segment; i < end; i++) {
        if ((segments[i].flags & BH_SEGMENT_FLAG_SOCKET_POOL) != 0) {
            if (!reach.is_pool) {
                reach = (struct socket_reach){i, 0, true};
            }
            reach.segment_count++;
        } else if (reach.is_pool) {
            break;
        }
    }
    return reach;
}
