/* SPDX-License-Identifier: Apache-2.0
 *
 * More ranges than the hardware has regions: 64, whose addresses differ at every level of the trie, each with
 * its own value. The instructions of a refill are measured over them (X8).
 */
#include "board.h"
#include "clock.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

#define RANGES    64u
#define BYTES     (1u << BOARD_FRAME_BITS)
#define ROUNDS    16u
#define LONG_TICK (1u << 24) /* so long that no tick occurs during a measurement */

static volatile unsigned *range[RANGES];
static volatile unsigned *same[RANGES];

/* Two MiB, four spans of 32 KiB in each, four places in each span, two ranges in each place: every level of
 * the trie is used. */
static unsigned long place(unsigned number)
{
    return MANY_FIRST + (number >> 5) * 0x100000ul + (number >> 3 & 3u) * 0x8000ul +
           (number >> 1 & 3u) * MANY_FAR + (number & 1u) * MANY_NEAR;
}

static unsigned time_of(volatile unsigned *const *at)
{
    unsigned start = clock_read();

    for (unsigned i = 0; i < RANGES; i++) {
        (void)*at[i];
    }
    return clock_read() - start;
}

void component_main(void)
{
    unsigned good = 0;
    unsigned most = 0;
    unsigned least = UINT32_MAX;

    for (unsigned i = 0; i < RANGES; i++) {
        range[i] = rt_malloc_at((void *)place(i), BYTES, 0);
        if (range[i] == 0) {
            say("many", "refused, error", (unsigned)rt_error());
            return;
        }
        same[i] = range[0];
        *range[i] = i * 3u + 1u;
    }
    for (unsigned i = 0; i < RANGES; i++) {
        good += *range[i * 29u % RANGES] == i * 29u % RANGES * 3u + 1u;
    }
    say("many", "ranges with their values", good);
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_TICK, LONG_TICK, 0);
    (void)time_of(same);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned misses = time_of(range);
        unsigned hits;

        (void)*same[0];
        hits = time_of(same);
        most = misses - hits > most ? misses - hits : most;
        least = misses - hits < least ? misses - hits : least;
    }
    say("many", "clock of 64 refills at most", most);
    say("many", "clock of 64 refills at least", least);
    for (unsigned i = 0; i < RANGES; i++) {
        rt_free((void *)(unsigned long)range[i]);
    }
    say("many", "freed, error", (unsigned)rt_error());
    say("many", "reads after free", *range[5]);
}
