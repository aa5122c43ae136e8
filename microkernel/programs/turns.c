/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs in place of the scheduler: starts all threads in the order of their numbers, then measures the switch
 * to a thread and back. The program `turner` reports its clock for this (X8).
 */
#include "clock.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/programs/say.h"

#define TURNER    2u
#define ROUNDS    32u
#define LONG_TICK (1u << 24) /* so long that no tick occurs during a measurement */

static struct sys_words dispatch(void)
{
    return sys_call(SYS_DISPATCH, SLOT_THREADS + TURNER, 0, 0, 0);
}

void component_main(void)
{
    unsigned there = 0;
    unsigned back = 0;

    (void)sys_call(SYS_HARDWARE, SLOT_HARDWARE, HW_TICK, LONG_TICK, 0);
    (void)dispatch();
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned start = clock_read();
        unsigned arrived = dispatch().word[3];
        unsigned left = dispatch().word[3];
        unsigned now = clock_read();

        there = arrived - start > there ? arrived - start : there;
        back = now - left > back ? now - left : back;
    }
    say("turns", "clock of a dispatch", there);
    say("turns", "clock of a yield", back);
    say("turns", "dispatch of an idle server", sys_do(SYS_DISPATCH, SLOT_THREADS, 0, 0, 0));
    say("turns", "dispatch of itself", sys_do(SYS_DISPATCH, SLOT_THREADS + 1u, 0, 0, 0));
}
