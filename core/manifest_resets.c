/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Check of the manifest's resets of devices. manifest_regions.c checks the places of the pages with their
 * registers. Part of manifest_check(); domains have been checked before.
 */
#include "core/manifest_resets.h"
#include "core/manifest_internal.h"

uint64_t manifest_reset_pa(const struct manifest_header *manifest, const struct manifest_reset *reset)
{
    const uint64_t pages[BH_MAX_RESET_PAGES] = {manifest->reset_pages.page_0, manifest->reset_pages.page_1};

    return pages[reset->page] + reset->offset;
}

/* Whether a reset of the device would reset an earlier one, too. */
static bool shares_bits(const struct manifest_header *manifest, const struct manifest_reset *reset)
{
    for (const struct manifest_reset *other = manifest_resets(manifest); other < reset; other++) {
        if (other->page == reset->page && other->offset == reset->offset &&
            (other->mask & reset->mask) != 0) {
            return true;
        }
    }
    return false;
}

static bool is_sound(const struct manifest_header *manifest, const struct manifest_reset *reset)
{
    return !shares_bits(manifest, reset) && reset->page < BH_MAX_RESET_PAGES &&
           reset->offset < BH_PAGE_BYTES && reset->offset % sizeof(uint32_t) == 0 &&
           manifest_reset_pa(manifest, reset) != reset->offset && reset->mask != 0 &&
           (reset->held == 0 || reset->held == reset->mask) && reset->hold_ns != 0 &&
           reset->hold_ns <= BH_MAX_RESET_HOLD_NS &&
           (reset->domain == BH_ALL_DOMAINS || reset->domain < manifest->domains.count);
}

bool manifest_check_resets(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    for (uint32_t i = 0; i < manifest->resets.count; i++) {
        if (!is_sound(manifest, &manifest_resets(manifest)[i])) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_DEVICE, &manifest_resets(manifest)[i]);
        }
    }
    return true;
}
