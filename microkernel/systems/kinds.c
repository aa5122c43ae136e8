/* SPDX-License-Identifier: Apache-2.0
 *
 * A component that owns all frames attempts operations that the kernel has to refuse.
 */
#include "microkernel/systems/system.h"

extern const char component_owner[], component_scheduler[], component_hello[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            {COMPONENT(owner), .hardware = MAY_PRINT | MAY_LOCK_WAYS | MAY_FLUSH_CHECK, .serves = 1},
            THE_SCHEDULER,
            {COMPONENT(hello), .priority = 1, .hardware = MAY_PRINT},
        },
};
