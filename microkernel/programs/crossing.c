/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs in place of the memory manager. With two dynamic regions, an access of two words that lies in two
 * ranges succeeds. With one it cannot complete, and the kernel has to detect this (X4).
 */
#include "board.h"
#include "core/mxu_mpu.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

#define BYTES  1024u /* the emulator checks both ends only if they are in different 1 KiB pages */
#define MYSELF SLOT_COMPONENTS

static enum sys_status map(unsigned number, unsigned flags)
{
    uint32_t slot = SLOTS_FREE + number;
    enum sys_status status = sys_do(SYS_RETYPE, SLOT_UNTYPED, OWNER_FIRST + number * BYTES, BYTES, slot);

    return status == SYS_OK ? sys_do(SYS_MAP, slot, MYSELF, MXU_READ | MXU_WRITE | flags << 16, 0) : status;
}

/* Reduces the dynamic regions by one, by adding a static one. */
static void take(unsigned number)
{
    say("crossing", "one static region more", map(number, MAP_STATIC));
}

static void store_two_words(unsigned long at)
{
    __asm__ volatile("strd %0, %1, [%2]" : : "r"(1), "r"(2), "r"(at) : "memory");
}

void component_main(void)
{
    volatile unsigned *last = (volatile unsigned *)(OWNER_FIRST + BYTES);

    /* Of eight regions, the system uses two and the stack one. The remaining five serve the ranges of the
     * data, the description and these two; the program accesses only the last two. */
    say("crossing", "two ranges", map(0, 0) == SYS_OK && map(1, 0) == SYS_OK);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "stored", last[-1] + last[0]);
    take(10);
    take(12);
    take(14);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "with two dynamic regions", last[-1] + last[0]);
    take(16);
    take(18); /* refused: one region is left; before there were two */
    say("crossing", "with one dynamic region", last[0]);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "came back", 1);
}
