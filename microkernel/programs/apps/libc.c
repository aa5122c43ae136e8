/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C library asks of a system: where its variables of a thread are, how a program ends early, and the
 * time, which is always the start of 1970.
 */
#include "microkernel/programs/apps/app.h"
#include <stddef.h>
#include <sys/time.h>

#define TCB_BYTES                                                                                            \
    8u /* Run-time ABI for the Arm architecture (IHI 0043), 3.4: the first variable is behind it */
#define TLS_BYTES 64u /* component.ld checks that it suffices: errno, results of gmtime() */

/* A component has one thread. */
static char variables[TCB_BYTES + TLS_BYTES] __attribute__((aligned(8), used));

void *__aeabi_read_tp(void);
_Noreturn void abort(void);

/* The compiler relies on it to change r0 alone. */
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
