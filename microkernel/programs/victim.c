/* SPDX-License-Identifier: Apache-2.0
 *
 * Has private memory, publishes its address in shared memory, and keeps counting whatever others do.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"
#include "microkernel/programs/shared.h"

#define SECRET 0x5EC12E7u

void component_main(void)
{
    volatile unsigned *secret = rt_malloc(1024, 0);
    struct shared *shared = rt_shmget(SHARED_ID, sizeof *shared, 0, 0);

    if (secret == 0 || shared == 0) {
        say("victim", "no memory, error", (unsigned)rt_error());
        return;
    }
    *secret = SECRET;
    shared->secret = (unsigned)(unsigned long)secret;
    for (;;) {
        rt_sleep(5); /* the other programs print nothing then: lines in these systems have no tags */
        say("victim", "secret is whole", *secret == SECRET);
        say("victim", "message", shared->message);
    }
}
