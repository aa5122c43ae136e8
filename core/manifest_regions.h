/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The regions of a manifest: registers and on-chip memory that EL2 keeps for itself, from the one table in
 * schema/manifest.yaml. The manifest's check keeps everything else apart from them, and EL2 maps those that
 * it uses. Needs only a readable manifest header.
 */
#ifndef BULKHEAD_CORE_MANIFEST_REGIONS_H
#define BULKHEAD_CORE_MANIFEST_REGIONS_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct manifest_region {
    uint64_t pa;
    uint64_t bytes;
    uint64_t guest_bytes; /* bytes that a guest sees at guest-physical address `pa`; 0: none */
    uint32_t pa_offset;   /* offset of the field in the manifest's header that states `pa` */
    bool mapped;          /* EL2 maps the region at its physical address */
};

/* Reads row `index` of the table, below BH_REGION_COUNT. Returns false if the system does not have that
 * region. */
bool manifest_region(const struct manifest_header *manifest, uint32_t index, struct manifest_region *region);

/* The index of the first region that overlaps physical addresses [pa, pa + bytes), which do not wrap;
 * BH_REGION_COUNT if there is none. */
uint32_t manifest_region_at(const struct manifest_header *manifest, uint64_t pa, uint64_t bytes);

/* Whether guests see a region at a guest-physical address in [ipa, ipa + bytes), which does not wrap. */
bool manifest_is_guest_region(const struct manifest_header *manifest, uint64_t ipa, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
