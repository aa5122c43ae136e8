/* SPDX-License-Identifier: Apache-2.0
 *
 * A scheduler that measures its switches; data of both is static.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_turns[], component_turner[];

const struct boot_system boot_system = {
    .component_count = 3,
    .component =
        {
            {COMPONENT(manager), .serves = 1, .hardware = MAY_PRINT},
            {COMPONENT(turns), .hardware = MAY_PRINT | MAY_SET_TICK, .spec = MXU_DETERMINISTIC},
            {COMPONENT(turner), .spec = MXU_DETERMINISTIC},
        },
};
