/* SPDX-License-Identifier: Apache-2.0
 *
 * Jumps into its data, which it may read and write but not execute.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"

#define LATE 10u /* ticks: after all others */

static unsigned short code[] = {0x4770, 0x4770}; /* return */

void component_main(void)
{
    void (*jump)(void) = (void (*)(void))((unsigned long)code | 1u);

    rt_sleep(LATE);
    say("executor", "runs", 1);
    jump();
    say("executor", "came back", 1);
}
