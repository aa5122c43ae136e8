/* SPDX-License-Identifier: Apache-2.0
 *
 * Attaches to the victim's shared memory, for which specification and size must agree, writes to it, and then
 * reads the victim's private memory.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"
#include "microkernel/programs/shared.h"

void component_main(void)
{
    struct shared *shared;

    rt_sleep(1);
    (void)rt_shmget(SHARED_ID, sizeof *shared, 0, MXU_L2);
    say("intruder", "other specification, error", (unsigned)rt_error());
    (void)rt_shmget(SHARED_ID, 4096, 0, 0);
    say("intruder", "other size, error", (unsigned)rt_error());
    shared = rt_shmget(SHARED_ID, sizeof *shared, 0, 0);
    if (shared == 0) {
        say("intruder", "no memory, error", (unsigned)rt_error());
        return;
    }
    shared->message = 11;
    say("intruder", "reads", *(volatile unsigned *)(unsigned long)shared->secret);
}
