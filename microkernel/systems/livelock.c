/* SPDX-License-Identifier: Apache-2.0
 *
 * A component that owns all frames leaves itself one dynamic region.
 */
#include "microkernel/systems/system.h"

extern const char component_crossing[], component_scheduler[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 2,
    .component =
        {
            {COMPONENT(crossing), .hardware = MAY_PRINT, .serves = 1},
            THE_SCHEDULER,
        },
};
