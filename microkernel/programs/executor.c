/* SPDX-License-Identifier: Apache-2.0
 *
 * Jumps into its data, which is readable and writable but not executable.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"

#define LATE 10u /* in ticks: runs after all other programs */

static unsigned short code[] = {0x4770, 0x4770}; /* bx lr */

void component_main(void)
{
    void (*jump)(void) = (void (*)(void))((unsigned long)code | 1u);

    rt_sleep(LATE);
    say("executor", "runs", 1);
    jump();
    say("executor", "came back", 1);
}
