/* SPDX-License-Identifier: Apache-2.0
 *
 * Cleans memory and loads images again, page by page through two windows; the source is read past the caches.
 */
#include "run/loader.h"
#include "base/boot_handover.h"
#include "memory/cache.h"
#include "memory/placement.h"
#include "memory/ptable.h"
#include "memory/window.h"
#include "run/flash.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/maintenance.h>
#include <stdatomic.h>
#include <string.h>

#define PAGE_MASK   (BH_PAGE_BYTES - 1ull)
#define LOOK_UPS    16u   /* pages looked up in a step, where nothing is mapped */
#define PIECE_BYTES 256u  /* copied in a step: each word of the source comes from memory */
#define CLEAN_BYTES 1024u /* cleaned in a step */

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

/* Opens a window of this core; returns a pointer to the byte at `at`. */
static char *open_at(enum window window, paddr_t at)
{
    char *page = window_open(this_cpu()->index, window, paddr(at.value & ~PAGE_MASK));

    return page + (at.value & PAGE_MASK);
}

static void close_one(enum window window)
{
    window_close(this_cpu()->index, window);
}

/* Number of cores that have a window open; each keeps it open for one page at a time. */
static _Atomic uint32_t at_work;

/* Returns true if a page may be opened. When the machine ends, no more are opened. */
static bool begin_page(void)
{
    atomic_fetch_add(&at_work, 1);
    if (!system_is_ending()) {
        return true;
    }
    atomic_fetch_sub(&at_work, 1);
    return false;
}

static void end_page(void)
{
    arch_dsb_sy(); /* cache maintenance must complete before the page is unmapped */
    close_one(WINDOW_DESTINATION);
    atomic_fetch_sub(&at_work, 1);
}

/* Uses the source window, because accesses through it put nothing into the caches. */
void loader_maintain_line(paddr_t line, bool instructions)
{
    uintptr_t address;

    if (!begin_page()) {
        return;
    }
    address = (uintptr_t)open_at(WINDOW_SOURCE, line);
    if (instructions) {
        arch_icache_invalidate_line(address);
    } else {
        arch_dcache_clean_line_to_unification(address);
    }
    arch_dsb_sy();
    close_one(WINDOW_SOURCE);
    atomic_fetch_sub(&at_work, 1);
}

bool loader_is_at_work(void)
{
    return atomic_load(&at_work) != 0;
}

/* Dirty lines of the domain's last life must not be written back over memory that the next life, which starts
 * with its caches off, writes. Cleaning keeps the other content. */
static void clean_piece(paddr_t pa)
{
    const char *piece;

    if (!begin_page()) {
        return;
    }
    piece = open_at(WINDOW_DESTINATION, pa);
    for (uint64_t line = 0; line < CLEAN_BYTES; line += CACHE_LINE_BYTES) {
        arch_dcache_clean_invalidate_line((uintptr_t)piece + line);
    }
    end_page();
}

/* Cleans a piece of the next mapped page; pages that are not mapped cannot have been accessed. Returns the
 * offset behind the piece, or behind the pages that were looked up. */
static uint64_t clean_next(const struct domain *domain, const struct manifest_segment *segment,
                           uint64_t offset)
{
    for (uint32_t i = 0; i < LOOK_UPS && offset < segment->bytes; i++) {
        uint64_t in_page = offset & PAGE_MASK;
        paddr_t pa;

        if (ptable_find(domain->stage2.pool, domain->stage2.root, segment->ipa + offset - in_page, &pa)) {
            clean_piece(paddr(pa.value + in_page));
            return offset + CLEAN_BYTES;
        }
        offset += BH_PAGE_BYTES;
    }
    return offset;
}

/* Cleans written bytes to memory, because the guest may read them with its caches off. */
static void clean_written(const char *destination, uint64_t bytes)
{
    for (uint64_t line = 0; line < bytes + CACHE_LINE_BYTES; line += CACHE_LINE_BYTES) {
        uintptr_t last = (uintptr_t)destination + bytes - 1;
        uintptr_t address = (uintptr_t)destination + line;

        arch_dcache_clean_invalidate_line(address < last ? address : last);
    }
}

/* Copies a piece that lies within one page on each side. */
static void copy_piece(paddr_t to, paddr_t from, uint64_t bytes)
{
    char *destination = open_at(WINDOW_DESTINATION, to);
    const char *source = open_at(WINDOW_SOURCE, from);

    memcpy(destination, source, bytes);
    clean_written(destination, bytes);
    close_one(WINDOW_SOURCE);
}

void loader_erase(paddr_t at, uint64_t bytes)
{
    char *content;

    if (!begin_page()) {
        return;
    }
    content = open_at(WINDOW_DESTINATION, at);
    memset(content, 0xFF, bytes);
    clean_written(content, bytes);
    end_page();
}

void loader_clear_bits(paddr_t at, uint64_t bytes, uint64_t value)
{
    uint8_t *content;

    if (!begin_page()) {
        return;
    }
    content = (uint8_t *)open_at(WINDOW_DESTINATION, at);
    for (uint64_t i = 0; i < bytes; i++) {
        content[i] &= (uint8_t)(value >> 8 * i);
    }
    clean_written((const char *)content, bytes);
    end_page();
}

static uint64_t to_page_end(uint64_t address)
{
    return BH_PAGE_BYTES - (address & PAGE_MASK);
}

static uint64_t smallest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies the next piece of an image. Returns its size in bytes. */
static uint64_t load_next(const struct domain *domain, const struct manifest_image *image, uint64_t offset)
{
    uint64_t source = boot_handover.load_address + image->offset + offset;
    uint64_t most = smallest(smallest(image->bytes - offset, to_page_end(source)), PIECE_BYTES);
    struct placement place = placement_of(system_manifest(), domain->config, image->ipa + offset, most);
    uint64_t bytes = smallest(place.bytes, to_page_end(place.pa.value));

    if (begin_page()) {
        copy_piece(place.pa, paddr(source), bytes);
        end_page();
    }
    return bytes;
}

/* Sets the progress to `offset`, or to the next part if `offset` reaches the end of the part at `bytes`. */
static void advance(struct reload *reload, uint64_t offset, uint64_t bytes)
{
    reload->offset = offset < bytes ? offset : 0;
    reload->part += offset >= bytes;
}

bool loader_step(const struct domain *domain, struct reload *reload, uint64_t *lines)
{
    const struct manifest_domain *config = domain->config;
    uint32_t image_number = reload->part - config->segment_count;

    *lines = 0;
    if (reload->part < config->segment_count) {
        const struct manifest_segment *segment =
            manifest_segments(system_manifest()) + config->first_segment + reload->part;

        bool stays = flash_keeps(domain, segment->ipa);

        advance(reload, stays ? segment->bytes : clean_next(domain, segment, reload->offset), segment->bytes);
    } else if (image_number < config->image_count) {
        const struct manifest_image *image =
            manifest_images(system_manifest()) + config->first_image + image_number;
        bool stays = flash_keeps(domain, image->ipa);
        uint64_t bytes = stays ? 0 : load_next(domain, image, reload->offset);

        *lines = bytes / CACHE_LINE_BYTES;
        advance(reload, stays ? image->bytes : reload->offset + bytes, image->bytes);
    }
    /* Each VCPU's core invalidates its own instruction cache when it starts. */
    return reload->part == config->segment_count + config->image_count;
}
