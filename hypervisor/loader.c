/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading images again: page by page through two windows, the source past the caches.
 */
#include "loader.h"
#include "boot.h"
#include "placement.h"
#include "system.h"
#include "window.h"
#include <arch/barrier.h>
#include <string.h>

#define CACHE_LINE_BYTES 64u
#define PAGE_MASK        (BH_PAGE_BYTES - 1ull)

bool loader_can_reload(const struct manifest_domain *domain)
{
    const struct manifest_image *images = manifest_images(system_manifest()) + domain->first_image;

    for (uint32_t i = 0; i < domain->image_count; i++) {
        if ((images[i].flags & BH_IMAGE_FLAG_IN_PLACE) != 0) {
            return false;
        }
    }
    return true;
}

/* Copies within one page on each side. The guest starts with its caches off: what it reads must be in memory.
 */
static void copy_piece(paddr_t to, paddr_t from, uint64_t bytes)
{
    char *destination = window_open(WINDOW_DESTINATION, paddr(to.value & ~PAGE_MASK));
    const char *source = window_open(WINDOW_SOURCE, paddr(from.value & ~PAGE_MASK));

    destination += to.value & PAGE_MASK;
    source += from.value & PAGE_MASK;
    memcpy(destination, source, bytes);
    for (uint64_t line = 0; line < bytes + CACHE_LINE_BYTES; line += CACHE_LINE_BYTES) {
        uintptr_t last = (uintptr_t)destination + bytes - 1;
        uintptr_t address = (uintptr_t)destination + line;

        arch_dcache_clean_invalidate_line(address < last ? address : last);
    }
}

static uint64_t to_page_end(uint64_t address)
{
    return BH_PAGE_BYTES - (address & PAGE_MASK);
}

static uint64_t smallest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void load(const struct manifest_domain *domain, const struct manifest_image *image)
{
    uint64_t source = boot_handover.load_address + image->offset;

    for (uint64_t done = 0; done < image->bytes;) {
        uint64_t most = smallest(image->bytes - done, to_page_end(source + done));
        struct placement place = placement_of(system_manifest(), domain, image->ipa + done, most);
        uint64_t bytes = smallest(place.bytes, to_page_end(place.pa.value));

        copy_piece(place.pa, paddr(source + done), bytes);
        done += bytes;
    }
}

void loader_reload(const struct manifest_domain *domain)
{
    const struct manifest_image *images = manifest_images(system_manifest()) + domain->first_image;

    for (uint32_t i = 0; i < domain->image_count; i++) {
        load(domain, &images[i]);
    }
    window_close(WINDOW_SOURCE);
    window_close(WINDOW_DESTINATION);
    arch_dsb_sy(); /* each VCPU's core invalidates its own instruction cache when it starts */
}
