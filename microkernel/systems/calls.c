/* SPDX-License-Identifier: Apache-2.0
 *
 * A client and a server, whose data is static.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_server[], component_client[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 4,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(server), .priority = 1, .serves = 1, .spec = MXU_DETERMINISTIC},
            {COMPONENT(client), .priority = 2, .hardware = MAY_PRINT | MAY_CLEAN | MAY_SET_TICK,
             .spec = MXU_DETERMINISTIC, .call_count = 1, .calls = {2}},
        },
};
