// SPDX-License-Identifier: Apache-2.0
//
// Guest-physical addresses of other domains, reached through the window. The place of a page does not change,
// so it is cached: queues are read again and again.
#include "guests/programs/broker/memory.h"
#include "core/guest_memory.h"
#include "core/segment_map.h"

#include <arch/mmu.h>
#include <string.h>

enum { kept_pages = 16 };

struct kept_page {
    uint64_t page; // guest-physical address plus one; 0: none
    char *pointer;
};

struct guest_memory {
    struct segment_map map;
    struct kept_page pages[kept_pages];
};

static struct guest_memory memories[BH_MAX_DOMAINS];

_Static_assert(sizeof(struct color_set) == sizeof(struct color_set_record), "the same layout");

struct guest_memory *memory_of(const struct broker_map *map, uint32_t domain)
{
    memories[domain] = (struct guest_memory){0};
    memories[domain].map = (struct segment_map){
        .segments = &map->segments[map->domains[domain].first_segment],
        .count = map->domains[domain].segment_count,
        .space = {map->color_bits},
        .sets = (const struct color_set *)(const void *)map->color_sets,
    };
    return &memories[domain];
}

struct guest_memory *memory_of_own(uint32_t domain, uint64_t address, char *pages, uint32_t count)
{
    static struct manifest_segment segments[BH_MAX_DOMAINS];
    struct guest_memory *memory = &memories[domain];

    segments[domain] = (struct manifest_segment){.ipa = address, .bytes = (uint64_t)count * BH_PAGE_BYTES};
    *memory = (struct guest_memory){.map = {.segments = &segments[domain], .count = 1}};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t page = address + (uint64_t)i * BH_PAGE_BYTES;

        memory->pages[page / BH_PAGE_BYTES % kept_pages] =
            (struct kept_page){.page = page + 1, .pointer = pages + (size_t)i * BH_PAGE_BYTES};
    }
    return memory;
}

bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes)
{
    return segment_map_owns(&memory->map, at, bytes);
}

uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    struct placement place = segment_map_at(&memory->map, at, most);

    *physical = place.pa.value;
    return place.bytes;
}

// The address at which the guest's byte `at` is visible; `*run`: the number of bytes from there to the end of
// the page.
static char *reach(struct guest_memory *memory, uint64_t at, uint32_t *run)
{
    uint64_t in_page = at % BH_PAGE_BYTES;
    uint64_t page = at - in_page;
    struct kept_page *kept = &memory->pages[page / BH_PAGE_BYTES % kept_pages];

    if (kept->page != page + 1) {
        uint64_t physical = segment_map_at(&memory->map, page, 1).pa.value;

        kept->pointer = (char *)mmu_virtual(BH_BROKER_WINDOW + physical);
        kept->page = page + 1;
    }
    *run = BH_PAGE_BYTES - (uint32_t)in_page;
    return kept->pointer + in_page;
}

// A cached page belongs to the guest as a whole: domains have whole pages.
static bool owns(const struct guest_memory *memory, uint64_t at, uint32_t bytes)
{
    uint64_t in_page = at % BH_PAGE_BYTES;
    uint64_t page = at - in_page;

    return (in_page + bytes <= BH_PAGE_BYTES &&
            memory->pages[page / BH_PAGE_BYTES % kept_pages].page == page + 1) ||
           guest_memory_owns(memory, at, bytes);
}

static bool are_aligned(const void *a, const void *b, uint32_t bytes)
{
    return ((uintptr_t)a | (uintptr_t)b) % bytes == 0;
}

// A single access where the guest may access the same memory at the same time; descriptors and headers are
// copied by words.
static void copy(void *to, const void *from, uint32_t bytes)
{
    if (bytes == sizeof(uint16_t) && are_aligned(to, from, bytes)) {
        *(volatile uint16_t *)to = *(const volatile uint16_t *)from;
    } else if (bytes % sizeof(uint32_t) == 0 && are_aligned(to, from, sizeof(uint32_t))) {
        for (uint32_t i = 0; i < bytes / sizeof(uint32_t); i++)
            ((volatile uint32_t *)to)[i] = ((const volatile uint32_t *)from)[i];
    } else {
        memcpy(to, from, bytes);
    }
}

bool guest_memory_read(struct guest_memory *memory, uint64_t at, void *to, uint32_t bytes)
{
    if (!owns(memory, at, bytes))
        return false;
    for (uint32_t done = 0; done < bytes;) {
        uint32_t run;
        const char *from = reach(memory, at + done, &run);

        run = run < bytes - done ? run : bytes - done;
        copy((char *)to + done, from, run);
        done += run;
    }
    return true;
}

bool guest_memory_write(struct guest_memory *memory, uint64_t at, const void *from, uint32_t bytes)
{
    if (!owns(memory, at, bytes))
        return false;
    for (uint32_t done = 0; done < bytes;) {
        uint32_t run;
        char *to = reach(memory, at + done, &run);

        run = run < bytes - done ? run : bytes - done;
        copy(to, (const char *)from + done, run);
        done += run;
    }
    return true;
}
