/* SPDX-License-Identifier: Apache-2.0
 *
 * A component whose memory is in lockable TLB entries measures how long it waits for translations.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_locker[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(locker), .priority = 1, .hardware = MAY_PRINT | MAY_FLUSH_CHECK | MAY_SET_TICK},
        },
};
