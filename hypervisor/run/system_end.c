/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the machine, in order: the console's rings, the windows of a loader, power.
 */
#include "run/system_end.h"
#include "console/console.h"
#include "run/loader.h"
#include "vm/system.h"

void system_finish_if_ending(void)
{
    if (!system_is_ending()) {
        return;
    }
    system_ended();
    console_flush();
    while (loader_is_at_work()) { /* else the tables that are checked afterwards would show its windows */
    }
    system_status()->phase = BH_PHASE_ENDED;
    system_power_off();
}
