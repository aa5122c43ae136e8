/* SPDX-License-Identifier: Apache-2.0
 *
 * More ranges than regions, in a component whose data is static.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_many[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(many), .priority = 1, .hardware = MAY_PRINT | MAY_SET_TICK, .spec = MXU_DETERMINISTIC},
        },
};
