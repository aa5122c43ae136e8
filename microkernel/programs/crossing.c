/* SPDX-License-Identifier: Apache-2.0
 *
 * In the memory manager's place: with two dynamic regions an access of two words that lies in two ranges
 * succeeds; with one it cannot, and the kernel has to notice (X4).
 */
#include "board.h"
#include "core/mxu_mpu.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

#define BYTES  1024u /* the emulator checks both ends of an access only if they are in two pages of 1 KiB */
#define MYSELF SLOT_COMPONENTS

static enum sys_status map(unsigned number, unsigned flags)
{
    uint32_t slot = SLOTS_FREE + number;
    enum sys_status status = sys_do(SYS_RETYPE, SLOT_UNTYPED, OWNER_FIRST + number * BYTES, BYTES, slot);

    return status == SYS_OK ? sys_do(SYS_MAP, slot, MYSELF, MXU_READ | MXU_WRITE | flags << 16, 0) : status;
}

/* Takes a dynamic region away by making one more static. */
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

    /* Eight, of which two are the system's and one the stack's: five for the ranges of the data, of the
     * description and of these two, of which the program accesses the last two alone. */
    say("crossing", "two ranges", map(0, 0) == SYS_OK && map(1, 0) == SYS_OK);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "stored", last[-1] + last[0]);
    take(10);
    take(12);
    take(14);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "with two dynamic regions", last[-1] + last[0]);
    take(16);
    take(18); /* refused: so there is one now, and there were two before */
    say("crossing", "with one dynamic region", last[0]);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "came back", 1);
}
