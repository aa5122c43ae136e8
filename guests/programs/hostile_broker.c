// SPDX-License-Identifier: Apache-2.0
//
// A broker that was taken over, for tests: in place of guests/programs/broker it opens the door, reads all
// memory of domains with a socket that the door's map names, and then memory that the map does not name. EL2
// must end it there. Parameters: `event`, given by the tool, as for the broker; `victim`: index of the domain
// that is attacked; `before` [1]: 1: it reads the byte before the segments that it reaches, 0: the byte
// behind them; `page` [0: none]: the physical page that it reads instead, memory of another broker's domain.
// It writes where the attack is, to the console.
#include "guests/programs/broker/broker.h"
#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"

static struct broker_pages pages;

static volatile uint8_t *window(uint64_t physical)
{
    return (volatile uint8_t *)(uintptr_t)mmu_virtual(BH_BROKER_WINDOW + physical);
}

// Of a segment that is not colored.
static void read_all(const struct manifest_segment *segment)
{
    uint64_t sum = 0;

    for (uint64_t at = 0; at < segment->bytes; at += BH_PAGE_BYTES)
        sum += *window(segment->pa + at);
    console_printf("read %lu KiB, sum %lu\n", segment->bytes / 1024, sum);
}

void program_main(void)
{
    const struct manifest_segment *first;
    const struct manifest_segment *last;
    const struct door_domain *victim;
    uint64_t target;

    if (broker_call(BH_HYPERCALL_BROKER_OPEN, mmu_physical(&pages), param("event", 0) != 0, 0, 0) != 0) {
        console_write("there are no flows\n");
        return;
    }
    victim = &pages.map.domains[param("victim", 0)];
    first = &pages.map.segments[victim->first_segment];
    last = first + victim->segment_count - 1;
    for (const struct manifest_segment *one = first; one <= last; one++)
        read_all(one);
    target = param("before", 1) != 0 ? first->pa - 1 : last->pa + last->bytes;
    if (param("page", 0) != 0)
        target = (uint64_t)param("page", 0) * BH_PAGE_BYTES;
    console_printf("reads %lx\n", target);
    console_printf("has read %lx: %u\n", target, *window(target));
}
