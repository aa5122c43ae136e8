/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs in place of the memory manager: owns all frames, and attempts operations that the kernel has to refuse
 * (X6). A frame never belongs to users and the kernel at once, and revoked capabilities no longer exist.
 */
#include "board.h"
#include "core/mxu_mpu.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

#define FRAME  (1u << BOARD_FRAME_BITS)
#define FIRST  OWNER_FIRST
#define A      (SLOTS_FREE + 0u)
#define B      (SLOTS_FREE + 1u)
#define C      (SLOTS_FREE + 2u)
#define MYSELF SLOT_COMPONENTS

static void expect(const char *what, enum sys_status status)
{
    say("owner", what, status);
}

static void kinds(void)
{
    expect("retype to users'", sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST, FRAME, A));
    expect("retype it to the kernel's, too", sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST, FRAME | KIND_KERNEL, B));
    expect("retype half of a frame", sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST + FRAME, FRAME / 2u, B));
    expect("retype the kernel itself",
           sys_do(SYS_RETYPE, SLOT_UNTYPED, BOARD_FRAMES_FIRST - FRAME, FRAME, B));
    expect("retype the next to the kernel's",
           sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST + FRAME, FRAME | KIND_KERNEL, B));
    expect("map the kernel's", sys_do(SYS_MAP, B, MYSELF, MXU_READ | MXU_WRITE, 0));
    expect("give users' to the kernel", sys_do(SYS_GIVE, A, MYSELF + 2u, GIVE_RANGES, 0));
    expect("into a slot that is taken", sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST + 2u * FRAME, FRAME, B));
    expect("delete the kernel's", sys_do(SYS_DELETE, B, 0, 0, 0));
}

static void revocation(void)
{
    volatile unsigned *memory = (volatile unsigned *)FIRST;

    expect("derive", sys_do(SYS_DELEGATE, A, MYSELF, MXU_READ, B));
    expect("map for writing by a reader's", sys_do(SYS_MAP, B, MYSELF, MXU_READ | MXU_WRITE, 0));
    expect("derive from what was derived", sys_do(SYS_DELEGATE, B, MYSELF, RIGHTS_ALL, C));
    expect("rights do not grow", sys_do(SYS_MAP, C, MYSELF, MXU_READ | MXU_WRITE, 0));
    expect("map", sys_do(SYS_MAP, C, MYSELF, MXU_READ, 0));
    say("owner", "new memory is clear", *memory);
    expect("revoke", sys_do(SYS_REVOKE, A, 0, 0, 0));
    expect("map what was revoked", sys_do(SYS_MAP, C, MYSELF, MXU_READ, 0));
    expect("users' is still users'", sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST, FRAME | KIND_KERNEL, B));
    expect("delete users'", sys_do(SYS_DELETE, A, 0, 0, 0));
    expect("now to the kernel's", sys_do(SYS_RETYPE, SLOT_UNTYPED, FIRST, FRAME | KIND_KERNEL, B));
    say("owner", "reads", *memory);
}

static void hardware(void)
{
    expect("lock four ways", sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_LOCK_WAYS, 0x0F, 0));
    expect("lock nine ways", sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_LOCK_WAYS, 0x1FF, 0));
    expect("flush the check", sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_FLUSH_CHECK, 0, 0));
    expect("clean without the right", sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_CLEAN_CACHE, 0, 0));
}

void component_main(void)
{
    hardware();
    kinds();
    revocation();
    say("owner", "came back", 1);
}
