/* SPDX-License-Identifier: Apache-2.0
 *
 * Cleaning memory and loading images again: page by page through two windows, the source past the caches.
 */
#include "run/loader.h"
#include "base/boot_handover.h"
#include "memory/cache.h"
#include "memory/placement.h"
#include "memory/ptable.h"
#include "memory/window.h"
#include "run/irq.h"
#include "time/bandwidth.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <stdatomic.h>
#include <string.h>

#define PAGE_MASK       (BH_PAGE_BYTES - 1ull)
#define LOOKED_UP_BYTES (16ull * BH_PAGE_BYTES) /* between interrupts, where nothing is mapped */
#define PIECE_BYTES     1024u                   /* copied with interrupts masked: the source is slow */

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

/* Cores that have windows open: a page at a time. */
static _Atomic uint32_t at_work;

static bool has_sense(const struct domain *domain)
{
    return !system_is_ending() && atomic_load(&domain->state) == BH_DOMAIN_STATE_RESTARTING;
}

/* Between two pages the core has other duties, one interrupt at a time as where a guest is throttled
 * (vcpu_run.c), and waits if the budget to which the pages are charged is spent. Where VCPUs share the core
 * they are charged to none. */
static void attend(const struct domain *domain)
{
    struct cpu *cpu = this_cpu();

    (void)irq_handle_one(cpu);
    while ((cpu->hold & CPU_HOLD_THROTTLED) != 0 && has_sense(domain)) {
        if (!irq_handle_one(cpu)) {
            arch_wfi();
        }
    }
}

/* Returns whether there is any sense in a next page; if so, it may be opened. */
static bool begin_page(const struct domain *domain)
{
    attend(domain);
    atomic_fetch_add(&at_work, 1);
    if (has_sense(domain)) {
        return true;
    }
    atomic_fetch_sub(&at_work, 1);
    return false;
}

static void end_page(void)
{
    arch_dsb_sy(); /* cache maintenance is complete before its page goes */
    window_close(WINDOW_DESTINATION);
    atomic_fetch_sub(&at_work, 1);
}

bool loader_is_at_work(void)
{
    return atomic_load(&at_work) != 0;
}

/* What the last life left in the caches must not come over what the next one, which starts with its caches
 * off, writes to memory. Other content stays. Only what is mapped can have been touched. */
static bool clean_page(const struct domain *domain, uint64_t ipa)
{
    const char *page;
    paddr_t pa;

    if (!ptable_find(system_pool(), domain->stage2.root, ipa, &pa)) {
        if (ipa % LOOKED_UP_BYTES == 0) {
            attend(domain);
        }
        return true;
    }
    if (!begin_page(domain)) {
        return false;
    }
    page = window_open(WINDOW_DESTINATION, pa);
    for (uint64_t line = 0; line < BH_PAGE_BYTES; line += CACHE_LINE_BYTES) {
        arch_dcache_clean_invalidate_line((uintptr_t)page + line);
    }
    end_page();
    return true;
}

static bool clean_memory(const struct domain *domain)
{
    const struct manifest_segment *segments =
        manifest_segments(system_manifest()) + domain->config->first_segment;

    for (uint32_t i = 0; i < domain->config->segment_count; i++) {
        for (uint64_t offset = 0; offset < segments[i].bytes; offset += BH_PAGE_BYTES) {
            if (!clean_page(domain, segments[i].ipa + offset)) {
                return false;
            }
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
    window_close(WINDOW_SOURCE);
}

static uint64_t to_page_end(uint64_t address)
{
    return BH_PAGE_BYTES - (address & PAGE_MASK);
}

static uint64_t smallest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool load(const struct domain *domain, const struct manifest_image *image)
{
    uint64_t source = boot_handover.load_address + image->offset;

    for (uint64_t done = 0; done < image->bytes;) {
        uint64_t most = smallest(smallest(image->bytes - done, to_page_end(source + done)), PIECE_BYTES);
        struct placement place = placement_of(system_manifest(), domain->config, image->ipa + done, most);
        uint64_t bytes = smallest(place.bytes, to_page_end(place.pa.value));

        if (!begin_page(domain)) {
            return false;
        }
        copy_piece(place.pa, paddr(source + done), bytes);
        end_page();
        bandwidth_charge(this_cpu(), bytes / CACHE_LINE_BYTES); /* of the source: past the caches */
        done += bytes;
    }
    return true;
}

bool loader_reload(const struct domain *domain)
{
    const struct manifest_image *images = manifest_images(system_manifest()) + domain->config->first_image;

    if (!clean_memory(domain)) {
        return false;
    }
    for (uint32_t i = 0; i < domain->config->image_count; i++) {
        if (!load(domain, &images[i])) {
            return false;
        }
    }
    return true; /* each VCPU's core invalidates its own instruction cache when it starts */
}
