/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations that the memory manager grants and refuses.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_asker[];

const struct boot_system boot_system = {
    .component_count = 3,
    .component =
        {
            {COMPONENT(manager), .serves = 1, .hardware = MAY_PRINT},
            {COMPONENT(scheduler)},
            {COMPONENT(asker), .priority = 1, .hardware = MAY_PRINT},
        },
};
