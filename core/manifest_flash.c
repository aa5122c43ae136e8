/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks flash segments that accept commands. EL2 hides such a segment by invalid stage-2 entries at level 2,
 * which must map no other memory of the domain. Part of manifest_check(), called by manifest_domains.c.
 */
#include "core/manifest_internal.h"
#include "core/manifest_regions.h"
#include "core/nor_flash.h"

const uint32_t manifest_segment_flags = BH_SEGMENT_FLAG_TABLES_PLACED | BH_SEGMENT_FLAG_READ_ONLY |
                                        BH_SEGMENT_FLAG_PROGRAMMABLE | BH_SEGMENT_FLAG_SOCKET_POOL;

#define ENTRY_BYTES 0x200000ull /* guest-physical addresses that an entry at level 2 maps */

/* Bytes that the level-2 entries cover that hide the segment. */
static uint64_t hidden_bytes(const struct manifest_segment *flash)
{
    return flash->bytes < ENTRY_BYTES ? ENTRY_BYTES : flash->bytes;
}

static bool is_well_placed(const struct manifest_segment *flash)
{
    return (flash->flags & BH_SEGMENT_FLAG_READ_ONLY) != 0 && flash->bytes >= NOR_FLASH_BLOCK_BYTES &&
           flash->bytes <= NOR_FLASH_MOST_BYTES && (flash->bytes & (flash->bytes - 1)) == 0 &&
           (flash->ipa & (hidden_bytes(flash) - 1)) == 0;
}

static bool is_alone(const struct manifest_header *manifest, const struct manifest_domain *domain,
                     const struct manifest_segment *flash)
{
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;
    const struct manifest_device *devices = manifest_devices(manifest) + domain->first_device;

    for (uint32_t i = 0; i < domain->segment_count; i++) {
        const struct manifest_segment *other = &segments[i];

        if (other != flash && ((other->flags & BH_SEGMENT_FLAG_PROGRAMMABLE) != 0 ||
                               ranges_overlap(flash->ipa, hidden_bytes(flash), other->ipa, other->bytes))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < domain->device_count; i++) {
        if (ranges_overlap(flash->ipa, hidden_bytes(flash), devices[i].ipa, devices[i].bytes)) {
            return false;
        }
    }
    return !manifest_is_guest_region(manifest, flash->ipa, hidden_bytes(flash));
}

bool manifest_check_flash(struct manifest_check *check, const struct manifest_domain *domain,
                          const struct manifest_segment *flash)
{
    return (is_well_placed(flash) && is_alone(check->manifest, domain, flash)) ||
           manifest_refuse(check, BH_MANIFEST_ERROR_SEGMENT, &flash->flags);
}
