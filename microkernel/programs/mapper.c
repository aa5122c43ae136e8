/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps memory, unmaps it, and requests what is not available; then writes to read-only memory.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/mman.h"
#include "microkernel/programs/say.h"

#define BYTES (3u * MAP_PAGE_BYTES + 1u) /* needs four pages */

static unsigned char *map(size_t bytes, int protection, int flags, void *at)
{
    return mmap(at, bytes, protection, flags, -1, 0);
}

static unsigned count_zeros(const unsigned char *at, unsigned bytes)
{
    unsigned zeros = 0;

    for (unsigned i = 0; i < bytes; i++) {
        zeros += at[i] == 0;
    }
    return zeros;
}

static unsigned is_refused(const void *mapped, int status)
{
    return mapped == MAP_FAILED && rt_error() == status;
}

/* Bit mask of the requests that were refused. */
static unsigned refusals(void)
{
    const int any = MAP_PRIVATE | MAP_ANONYMOUS;
    const int both = PROT_READ | PROT_WRITE;
    unsigned refused = is_refused(map(0, both, any, 0), MXU_EINVAL);

    refused |= is_refused(map(1, both | PROT_EXEC, any, 0), MXU_EINVAL) << 1;
    refused |= is_refused(map(1, PROT_WRITE, any, 0), MXU_EINVAL) << 2;
    refused |= is_refused(map(1, both, MAP_SHARED | MAP_ANONYMOUS, 0), MXU_EINVAL) << 3;
    refused |= is_refused(mmap(0, 1, both, MAP_PRIVATE, 3, 0), MXU_EINVAL) << 4;
    refused |= is_refused(map(~(size_t)0, both, any, 0), MXU_EINVAL) << 5;
    refused |= is_refused(map(0x70000000u, both, any, 0), MXU_ENOMEM) << 6;
    return refused;
}

void component_main(void)
{
    const int any = MAP_PRIVATE | MAP_ANONYMOUS;
    unsigned char *first = map(BYTES, PROT_READ | PROT_WRITE, any, 0);
    unsigned char *again, *only_read;

    say("mapper", "zeros", count_zeros(first, 4u * MAP_PAGE_BYTES));
    for (unsigned i = 0; i < 4u * MAP_PAGE_BYTES; i++) {
        first[i] = (unsigned char)i;
    }
    say("mapper", "over itself",
        map(1, PROT_READ, any | MAP_FIXED, first) == MAP_FAILED ? (unsigned)rt_error() : 0);
    say("mapper", "a part", munmap(first, MAP_PAGE_BYTES) == 0 ? 0 : (unsigned)rt_error());
    say("mapper", "amid", munmap(first + MAP_PAGE_BYTES, BYTES) == 0 ? 0 : (unsigned)rt_error());
    say("mapper", "all", (unsigned)munmap(first, BYTES));
    say("mapper", "twice", munmap(first, BYTES) == 0 ? 0 : (unsigned)rt_error());
    again = map(BYTES, PROT_READ | PROT_WRITE, any | MAP_FIXED, first);
    say("mapper", "at the same place", again == first);
    say("mapper", "zeros again", count_zeros(again, 4u * MAP_PAGE_BYTES));
    say("mapper", "refusals", refusals());
    only_read = map(1, PROT_READ, any, 0);
    say("mapper", "can be read", count_zeros(only_read, MAP_PAGE_BYTES));
    *(volatile unsigned char *)only_read = 1;
    say("mapper", "came back", 1);
}
