/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations that the memory manager grants and refuses.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_asker[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(asker), .priority = 1, .hardware = MAY_PRINT},
        },
};
