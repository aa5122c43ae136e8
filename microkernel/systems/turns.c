/* SPDX-License-Identifier: Apache-2.0
 *
 * A scheduler that measures its switches; data of both components is static.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_turns[], component_turner[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            {COMPONENT(turns), .hardware = MAY_PRINT | MAY_SET_TICK, .spec = MXU_DETERMINISTIC},
            {COMPONENT(turner), .spec = MXU_DETERMINISTIC},
        },
};
