/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates a domain's guest-physical addresses to physical ones, in contiguous pieces, from the manifest.
 * Used to load images: with the MMU off at boot, and through windows at a restart.
 */
#ifndef BULKHEAD_PLACEMENT_H
#define BULKHEAD_PLACEMENT_H

#include "core/manifest.h"
#include "core/segment_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The map of all memory of the domain. */
struct segment_map placement_map(const struct manifest_header *manifest,
                                 const struct manifest_domain *domain);

/* The segment of the domain's memory that contains `ipa`, or NULL. Takes at most as many steps as the domain
 * has segments. */
const struct manifest_segment *placement_segment(const struct manifest_header *manifest,
                                                 const struct manifest_domain *domain, uint64_t ipa);

/* The contiguous piece that begins at `ipa`, at most `most` bytes. Its size is 0 if `ipa` is not memory of
 * the domain. */
struct placement placement_of(const struct manifest_header *manifest, const struct manifest_domain *domain,
                              uint64_t ipa, uint64_t most);

#ifdef __cplusplus
}
#endif

#endif
