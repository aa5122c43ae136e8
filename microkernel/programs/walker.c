/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory whose table nodes are in a locked way of the outer cache, and other memory: measures the cost of a
 * walk for each after all other contents of the caches were replaced (X5). The processor's cycle counter is
 * used, which an emulator does not implement.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/counters.h"
#include "microkernel/programs/say.h"

#define PAGE        0x1000u
#define PLACED      0x01800000ul
#define PLAIN       0x01900000ul /* uses another second-level table */
#define SWEPT       0x02000000ul
#define SWEPT_BYTES 0x400000u /* eight times the outer cache */
#define LINE        32u
#define SWEEPS      2u
#define LONG_TICK   (1u << 28) /* so long that no tick occurs during a measurement */

static volatile unsigned *map(const char *what, unsigned long address, unsigned bytes, unsigned spec)
{
    void *memory = rt_malloc_at((void *)address, bytes, spec);

    say("walker", what, (unsigned)rt_error());
    return memory;
}

static void sweep(volatile unsigned *memory)
{
    for (unsigned i = 0; i < SWEEPS * SWEPT_BYTES; i += LINE) {
        (void)memory[i % SWEPT_BYTES / sizeof *memory];
    }
}

/* Measures a walk for the page after the caches were swept. */
static void measure(const char *what, volatile unsigned *page, volatile unsigned *swept)
{
    uint32_t walk;

    sweep(swept);
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_FLUSH_CHECK, 0, 0);
    walk = counters_read(0);
    (void)*page;
    walk = counters_read(0) - walk;
    say("walker", what, walk);
}

void component_main(void)
{
    volatile unsigned *placed = map("placed", PLACED, PAGE, MXU_L2);
    volatile unsigned *plain = map("plain", PLAIN, PAGE, 0);
    volatile unsigned *swept = map("swept", SWEPT, SWEPT_BYTES, 0);

    if (placed == 0 || plain == 0 || swept == 0) {
        return;
    }
    say("walker", "mechanism", rt_mechanism((const void *)PLACED));
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_TICK, LONG_TICK, 0);
    counters_count(0, WALK_STALL);
    measure("walk, placed", placed, swept);
    measure("walk, plain", plain, swept);
    say("walker", "done", 1);
}
