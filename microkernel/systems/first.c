/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest system: one component besides the memory manager and the scheduler.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_hello[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(hello), .priority = 1, .hardware = MAY_PRINT},
        },
};
