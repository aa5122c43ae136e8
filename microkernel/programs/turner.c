/* SPDX-License-Identifier: Apache-2.0
 *
 * Yields with a clock value as the argument: alternately the time just after it was dispatched, and the time
 * just before it yields.
 */
#include "clock.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"

void component_main(void)
{
    for (;;) {
        uint32_t arrived;

        (void)sys_call(SYS_YIELD, SLOT_NONE, clock_read(), 0, 0);
        arrived = clock_read();
        (void)sys_call(SYS_YIELD, SLOT_NONE, arrived, 0, 0);
    }
}
