/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The regions of a manifest: registers and on-chip memory that EL2 keeps, by the one table of
 * schema/manifest.yaml. The manifest's check keeps everything else apart from them, and EL2 maps those that
 * it uses. Safe to call on a manifest whose header alone is known to be readable.
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
    uint64_t guest_bytes; /* what a guest finds at guest-physical address `pa`; 0: nothing */
    uint32_t pa_offset;   /* where the manifest's header says `pa` */
    bool mapped;          /* EL2 maps it at its physical address */
};

/* Row `index`, below BH_REGION_COUNT. False if the system does not have that region. */
bool manifest_region(const struct manifest_header *manifest, uint32_t index, struct manifest_region *region);

/* The first region that touches physical addresses [pa, pa + bytes), which do not wrap: its index, or
 * BH_REGION_COUNT. */
uint32_t manifest_region_at(const struct manifest_header *manifest, uint64_t pa, uint64_t bytes);

/* Whether guests find a region at guest-physical addresses [ipa, ipa + bytes), which do not wrap. */
bool manifest_is_guest_region(const struct manifest_header *manifest, uint64_t ipa, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
