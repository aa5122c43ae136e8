/* SPDX-License-Identifier: Apache-2.0
 *
 * Deterministic memory in lockable TLB entries of three sizes. Measures how long an access waits for its
 * translation after a flush, and after other pages have filled its set, compared with an access to other
 * memory (X5). All pages lie in one set of the main TLB. The processor's cycle counter is used, which an
 * emulator does not implement.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/counters.h"
#include "microkernel/programs/say.h"

#define PAGE         0x1000u
#define SAME_SET     0x40000ul /* 64 sets of pages of 4 KiB */
#define OTHERS       40u       /* more than the micro-TLB has entries */
#define OTHERS_FIRST 0x01200000ul
#define PLAIN        (OTHERS_FIRST + OTHERS * SAME_SET)
#define LOCKED       (PLAIN + SAME_SET)
#define LARGE        0x01D10000ul
#define LARGE_BYTES  0x10000u
#define SUPER        0x02000000ul
#define SUPER_BYTES  0x1000000u
#define LONG_TICK    (1u << 28) /* so long that no tick occurs during a measurement */
/* Measures how long one read of the address takes. */
static void measure(const char *walk, const char *main_tlb, unsigned long address)
{
    uint32_t walks = counters_read(0);
    uint32_t hits = counters_read(1);

    (void)*(volatile unsigned *)address;
    walks = counters_read(0) - walks;
    hits = counters_read(1) - hits;
    say("locker", walk, walks);
    say("locker", main_tlb, hits);
}

static bool has(unsigned long address, unsigned bytes, unsigned spec)
{
    volatile unsigned *memory = rt_malloc_at((void *)address, bytes, spec);

    if (memory == 0) {
        say("locker", "refused, error", (unsigned)rt_error());
        return false;
    }
    memory[0] = bytes;
    memory[bytes / 4u - 1u] = ~bytes;
    return memory[0] == bytes && memory[bytes / 4u - 1u] == ~bytes;
}

static void take_set(void)
{
    for (unsigned i = 0; i < OTHERS; i++) {
        (void)*(volatile unsigned *)(OTHERS_FIRST + i * SAME_SET);
    }
}

void component_main(void)
{
    unsigned needed;
    unsigned left = 0;
    bool ready = true;

    say("locker", "a page", has(LOCKED, PAGE, MXU_DETERMINISTIC));
    say("locker", "a large page", has(LARGE, LARGE_BYTES, MXU_DETERMINISTIC));
    say("locker", "a supersection", has(SUPER, SUPER_BYTES, MXU_DETERMINISTIC));
    (void)rt_malloc(2u * PAGE, MXU_DETERMINISTIC);
    (void)rt_lacking(&needed, &left);
    say("locker", "entries left", left);
    for (unsigned i = 0; i < OTHERS && ready; i++) {
        ready = has(OTHERS_FIRST + i * SAME_SET, PAGE, 0);
    }
    say("locker", "other memory", ready && has(PLAIN, PAGE, 0));
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_TICK, LONG_TICK, 0);
    counters_count(0, WALK_STALL);
    counters_count(1, MAIN_STALL);
    measure("walk, at first, locked", "main TLB, at first, locked", LOCKED);
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_FLUSH_CHECK, 0, 0);
    (void)counters_read(0);
    measure("walk, flushed, other", "main TLB, flushed, other", PLAIN);
    measure("walk, flushed, locked", "main TLB, flushed, locked", LOCKED);
    take_set();
    measure("walk, evicted, other", "main TLB, evicted, other", PLAIN);
    measure("walk, evicted, locked", "main TLB, evicted, locked", LOCKED);
    measure("walk, evicted, in a large page", "main TLB, evicted, in a large page", LARGE + 0x5000u);
    measure("walk, evicted, in a supersection", "main TLB, evicted, in a supersection", SUPER + 0xABC000u);
    say("locker", "done", 1);
}
