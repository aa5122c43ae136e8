/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest system: one component beside the memory manager and the scheduler.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_hello[];

const struct boot_system boot_system = {
    .component_count = 3,
    .component =
        {
            {COMPONENT(manager), .serves = 1, .hardware = MAY_PRINT},
            {COMPONENT(scheduler)},
            {COMPONENT(hello), .priority = 1, .hardware = MAY_PRINT},
        },
};
