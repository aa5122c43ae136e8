/* SPDX-License-Identifier: Apache-2.0
 *
 * A component that knows malloc() alone.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_heap[];

const struct boot_system boot_system = {
    .component_count = 3,
    .component =
        {
            {COMPONENT(manager), .serves = 1, .hardware = MAY_PRINT},
            {COMPONENT(scheduler)},
            {COMPONENT(heap), .priority = 1, .hardware = MAY_PRINT},
        },
};
