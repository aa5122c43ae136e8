/* SPDX-License-Identifier: Apache-2.0
 *
 * What core/ reads and writes of a guest's memory: through windows of this core, which stay open until
 * another page needs their place, because a queue is looked at again and again.
 */
#include "flow/guest_memory.h"
#include "memory/placement.h"
#include "memory/stage2.h"
#include "memory/window.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <string.h>

#define PLACES_APART 9u /* windows between those of two domains */

bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes)
{
    const struct manifest_domain *config = memory->domain->config;
    const struct manifest_segment *segment = placement_segment(system_manifest(), config, at);

    /* Segments do not overlap, so each is passed at most once. */
    while (segment != NULL && bytes > segment->bytes - (at - segment->ipa)) {
        bytes -= segment->bytes - (at - segment->ipa);
        at = segment->ipa + segment->bytes;
        segment = placement_segment(system_manifest(), config, at);
    }
    return segment != NULL;
}

uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    struct placement place = placement_of(system_manifest(), memory->domain->config, at, most);

    *physical = place.pa.value;
    return place.bytes;
}

void guest_memory_init(void)
{
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        memset(cpu_at(i)->flow.pages, 0, sizeof(cpu_at(i)->flow.pages));
    }
}

/* Where a page of this domain is kept, if it is: the same pages of different domains lie apart. */
static uint32_t place_of(const struct guest_memory *memory, uint64_t page)
{
    return (uint32_t)((page / BH_PAGE_BYTES + memory->domain->index * (uint64_t)PLACES_APART) % WINDOWS_KEPT);
}

static bool is_open(const struct open_page *one, const struct guest_memory *memory, uint64_t page)
{
    return one->domain == memory->domain && one->page == page;
}

/* Where EL2 reaches the byte at `at`, which the guest owns; `*run`: how many more follow in the page. */
static char *reach(const struct guest_memory *memory, uint64_t at, uint32_t *run)
{
    uint64_t in_page = at % BH_PAGE_BYTES;
    uint64_t page = at - in_page;
    uint32_t place = place_of(memory, page);
    struct open_page *one = &this_cpu()->flow.pages[place];

    if (!is_open(one, memory, page)) {
        paddr_t pa = placement_of(system_manifest(), memory->domain->config, page, 1).pa;

        one->pointer = window_open(this_cpu()->index, (enum window)(WINDOW_KEPT + place), pa);
        one->domain = memory->domain;
        one->page = page;
    }
    *run = BH_PAGE_BYTES - (uint32_t)in_page;
    return one->pointer + in_page;
}

/* What is in a page that is open is the guest's own: domains have whole pages. */
static bool owns(const struct guest_memory *memory, uint64_t at, uint32_t bytes)
{
    uint64_t in_page = at % BH_PAGE_BYTES;
    uint64_t page = at - in_page;

    if (in_page + bytes <= BH_PAGE_BYTES &&
        is_open(&this_cpu()->flow.pages[place_of(memory, page)], memory, page)) {
        return true;
    }
    return guest_memory_owns(memory, at, bytes);
}

static bool are_aligned(const void *a, const void *b, uint32_t bytes)
{
    return ((uintptr_t)a | (uintptr_t)b) % bytes == 0;
}

/* One access where a guest may look at the same time. */
static void copy(void *to, const void *from, uint32_t bytes)
{
    if (bytes == sizeof(uint16_t) && are_aligned(to, from, bytes)) {
        *(volatile uint16_t *)to = *(const volatile uint16_t *)from;
    } else if (bytes == sizeof(uint32_t) && are_aligned(to, from, bytes)) {
        *(volatile uint32_t *)to = *(const volatile uint32_t *)from;
    } else {
        memcpy(to, from, bytes);
    }
}

bool guest_memory_read(struct guest_memory *memory, uint64_t at, void *to, uint32_t bytes)
{
    if (!owns(memory, at, bytes)) {
        return false;
    }
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
    if (!owns(memory, at, bytes)) {
        return false;
    }
    for (uint32_t done = 0; done < bytes;) {
        uint32_t run;
        char *to = reach(memory, at + done, &run);

        run = run < bytes - done ? run : bytes - done;
        copy(to, (const char *)from + done, run);
        done += run;
    }
    return true;
}
