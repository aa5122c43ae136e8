/* SPDX-License-Identifier: Apache-2.0
 *
 * A component that uses only mmap(), and whose memory is best effort.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_mapper[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(mapper), .priority = 1, .hardware = MAY_PRINT},
        },
};
