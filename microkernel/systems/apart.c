/* SPDX-License-Identifier: Apache-2.0
 *
 * Two components with shared memory, one of which accesses more than that; others that leave their stack and
 * data.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_victim[], component_intruder[],
    component_overflow[], component_executor[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 6,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(victim), .priority = 1, .hardware = MAY_PRINT},
            {COMPONENT(intruder), .priority = 2, .hardware = MAY_PRINT},
            {COMPONENT(overflow), .priority = 3, .hardware = MAY_PRINT},
            {COMPONENT(executor), .priority = 4, .hardware = MAY_PRINT},
        },
};
