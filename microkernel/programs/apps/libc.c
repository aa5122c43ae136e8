/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the C library needs from a system: the address of thread-local variables, early exit of a
 * program, and the time, which is always the start of 1970.
 */
#include "microkernel/programs/apps/app.h"
#include <stddef.h>
#include <sys/time.h>

#define TCB_BYTES                                                                                            \
    8u /* Run-time ABI for the Arm architecture (IHI 0043), 3.4: variables begin after these bytes */
#define TLS_BYTES 64u /* for errno and the results of gmtime(); component.ld checks the size */

/* One block, because a component has one thread. */
static char variables[TCB_BYTES + TLS_BYTES] __attribute__((aligned(8), used));

void *__aeabi_read_tp(void);
_Noreturn void abort(void);

/* Naked, because the compiler assumes that it changes only r0. */
__attribute__((naked)) void *__aeabi_read_tp(void)
{
    __asm__("ldr r0, =variables\n bx lr\n .ltorg");
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    *now = (struct timeval){0};
    return 0;
}

_Noreturn void abort(void)
{
    app_fail("the program ended itself");
}
