/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Which part of a domain's memory its socket device and the broker reach (F8): the segments that the manifest
 * marks as the device's pool, or all segments that the domain can write if none is marked. A device does not
 * write what its domain cannot write: flash.
 */
#ifndef BULKHEAD_CORE_SOCKET_REACH_H
#define BULKHEAD_CORE_SOCKET_REACH_H

#include "core/manifest.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct socket_reach {
    uint32_t first_segment; /* in the manifest's table */
    uint32_t segment_count;
    bool is_pool; /* the domain has a pool */
};

/* The first run of marked segments of the domain, or of writable ones if none is marked; the manifest's check
 * accepts no second one. The domain's rows of the table exist. Takes at most twice as many steps as the
 * domain has segments. */
struct socket_reach socket_reach_of(const struct manifest_header *manifest,
                                    const struct manifest_domain *domain);

#ifdef __cplusplus
}
#endif

#endif
