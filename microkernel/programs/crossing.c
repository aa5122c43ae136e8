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

static void map(unsigned number, unsigned flags)
{
    uint32_t slot = SLOTS_FREE + number;
    enum sys_status status = sys_do(SYS_RETYPE, SLOT_UNTYPED, OWNER_FIRST + number * BYTES, BYTES, slot);

    if (status == SYS_OK) {
        status = sys_do(SYS_MAP, slot, MYSELF, MXU_READ | MXU_WRITE | flags << 16, 0);
    }
    if (status != SYS_OK) {
        say("crossing", "refused", status);
    }
}

static void store_two_words(unsigned long at)
{
    __asm__ volatile("strd %0, %1, [%2]" : : "r"(1), "r"(2), "r"(at) : "memory");
}

void component_main(void)
{
    volatile unsigned *last = (volatile unsigned *)(OWNER_FIRST + BYTES);

    /* Static: the stack. Dynamic: data, and the two ranges. */
    map(0, 0);
    map(1, 0);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "stored", last[-1] + last[0]);
    map(10, MAP_STATIC);
    map(12, MAP_STATIC);
    map(14, MAP_STATIC);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "with two dynamic regions", last[-1] + last[0]);
    map(16, MAP_STATIC);
    say("crossing", "with one dynamic region", last[0]);
    store_two_words(OWNER_FIRST + BYTES - 4u);
    say("crossing", "came back", 1);
}
