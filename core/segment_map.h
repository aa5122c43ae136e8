/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Translates guest-physical addresses of a domain to physical addresses, in contiguous pieces. Used by EL2,
 * which has the manifest, and by the broker, which was given the segments (core/broker_door.h).
 */
#ifndef BULKHEAD_CORE_SEGMENT_MAP_H
#define BULKHEAD_CORE_SEGMENT_MAP_H

#include "core/color.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The segments of one domain, which do not overlap, and the color sets that they name. */
struct segment_map {
    const struct manifest_segment *segments;
    uint32_t count;
    struct color_space space;
    const struct color_set *sets;
};

/* The segment that contains `ipa`, or NULL. Takes at most as many steps as there are segments. */
const struct manifest_segment *segment_map_find(const struct segment_map *map, uint64_t ipa);

/* Whether all `bytes` bytes from `at` on are memory of the domain. With 0 bytes: whether `at` is. */
bool segment_map_owns(const struct segment_map *map, uint64_t at, uint64_t bytes);

/* A physically contiguous piece of a domain's memory. */
struct placement {
    paddr_t pa;
    uint64_t bytes;
};

/* The contiguous piece that begins at `ipa`, of at most `most` bytes. 0 bytes if `ipa` is not memory of the
 * domain. */
struct placement segment_map_at(const struct segment_map *map, uint64_t ipa, uint64_t most);

#ifdef __cplusplus
}
#endif

#endif
