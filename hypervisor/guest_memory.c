/* SPDX-License-Identifier: Apache-2.0
 *
 * What core/ reads and writes of a guest's memory: through windows of this core, which stay open until
 * another page needs their place, because a queue is looked at again and again.
 */
#include "guest_memory.h"
#include "cpu.h"
#include "placement.h"
#include "stage2.h"
#include "system.h"
#include "window.h"
#include <string.h>

bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes)
{
    const struct manifest_domain *config = memory->domain->config;
    const struct manifest_segment *segments = manifest_segments(system_manifest()) + config->first_segment;

    /* Segments do not overlap, so each is passed at most once. */
    for (uint32_t i = 0; i < config->segment_count; i++) {
        uint64_t within = at - segments[i].ipa;

        if (at >= segments[i].ipa && within < segments[i].bytes) {
            if (bytes <= segments[i].bytes - within) {
                return true;
            }
            bytes -= segments[i].bytes - within;
            at = segments[i].ipa + segments[i].bytes;
            i = UINT32_MAX; /* what follows may come earlier in the table */
        }
    }
    return false;
}

uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    struct placement place = placement_of(system_manifest(), memory->domain->config, at, most);

    *physical = place.pa.value;
    return place.bytes;
}

/* Pages that are open now, per core. */
static struct kept {
    uint64_t page; /* 0: none */
    char *pointer;
} kept[BH_MAX_CORES][WINDOWS_KEPT];

void guest_memory_init(void)
{
    memset(kept, 0, sizeof(kept));
}

static char *open_page(uint64_t page)
{
    uint32_t place = page / BH_PAGE_BYTES % WINDOWS_KEPT;
    struct kept *one = &kept[this_cpu()->index][place];

    if (one->page != page) {
        one->pointer = window_open((enum window)(WINDOW_KEPT + place), paddr(page));
        one->page = page;
    }
    return one->pointer;
}

/* Where EL2 reaches the byte at `at`, which the guest owns; `*run`: how many more follow in the page. */
static char *reach(const struct guest_memory *memory, uint64_t at, uint32_t *run)
{
    paddr_t pa = placement_of(system_manifest(), memory->domain->config, at, 1).pa;
    uint64_t in_page = pa.value % BH_PAGE_BYTES;

    *run = BH_PAGE_BYTES - (uint32_t)in_page;
    return open_page(pa.value - in_page) + in_page;
}

/* One access where a guest may look at the same time. */
static void copy(void *to, const void *from, uint32_t bytes, const void *guest)
{
    if (bytes == sizeof(uint16_t) && (uintptr_t)guest % sizeof(uint16_t) == 0) {
        *(volatile uint16_t *)to = *(const volatile uint16_t *)from;
    } else {
        memcpy(to, from, bytes);
    }
}

bool guest_memory_read(struct guest_memory *memory, uint64_t at, void *to, uint32_t bytes)
{
    if (!guest_memory_owns(memory, at, bytes)) {
        return false;
    }
    for (uint32_t done = 0; done < bytes;) {
        uint32_t run;
        const char *from = reach(memory, at + done, &run);

        run = run < bytes - done ? run : bytes - done;
        copy((char *)to + done, from, run, from);
        done += run;
    }
    return true;
}

bool guest_memory_write(struct guest_memory *memory, uint64_t at, const void *from, uint32_t bytes)
{
    if (!guest_memory_owns(memory, at, bytes)) {
        return false;
    }
    for (uint32_t done = 0; done < bytes;) {
        uint32_t run;
        char *to = reach(memory, at + done, &run);

        run = run < bytes - done ? run : bytes - done;
        copy(to, (const char *)from + done, run, to);
        done += run;
    }
    return true;
}
