/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls the server and measures both directions: from the clock before the call to the server's clock, and
 * back (X8).
 */
#include "clock.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

#define ROUNDS    64u
#define LONG_TICK (1u << 24) /* so long that no tick occurs during a measurement */

void component_main(void)
{
    unsigned there = 0;
    unsigned back = 0;
    unsigned wrong = 0;
    unsigned nothing = clock_read();
    volatile unsigned *memory[8];

    nothing = clock_read() - nothing;
    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_TICK, LONG_TICK, 0);
    /* So that all dynamic regions are in use. */
    for (unsigned i = 0; i < 8; i++) {
        memory[i] = rt_malloc(1024, 0);
        *memory[i] = i;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct sys_words answer = sys_call(SYS_CALL, SLOT_CALLS, i, 2 * i, clock_read());
        unsigned now = clock_read();

        wrong += answer.word[0] != SYS_OK || answer.word[1] != 3 * i;
        there = answer.word[2] > there ? answer.word[2] : there;
        back = now - answer.word[3] > back ? now - answer.word[3] : back;
    }
    say("client", "wrong answers", wrong);
    say("client", "clock of nothing", nothing);
    say("client", "clock of a call", there);
    say("client", "clock of a reply", back);
    say("client", "call without a capability", sys_do(SYS_CALL, SLOT_CALLS + 1u, 0, 0, 0));
    say("client", "call of a component", sys_do(SYS_CALL, SLOT_SELF, 0, 0, 0));
    say("client", "serve what is another's", sys_do(SYS_REPLY_WAIT, SLOT_CALLS, 0, 0, 0));
    say("client", "retype without a capability", sys_do(SYS_RETYPE, SLOT_UNTYPED, 0, 1024, SLOTS_FREE));
    say("client", "dispatch", sys_do(SYS_DISPATCH, SLOT_THREADS, 0, 0, 0));
    say("client", "lock ways without the right", sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_LOCK_WAYS, 1, 0));
    say("client", "clean the cache", sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_CLEAN_CACHE, 0, 0));
}
