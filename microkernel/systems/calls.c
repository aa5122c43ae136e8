/* SPDX-License-Identifier: Apache-2.0
 *
 * A client and a server, whose data is static.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_server[], component_client[];

const struct boot_system boot_system = {
    .component_count = 4,
    .component =
        {
            {COMPONENT(manager), .serves = 1, .hardware = MAY_PRINT},
            {COMPONENT(scheduler)},
            {COMPONENT(server), .priority = 1, .serves = 1, .spec = MXU_DETERMINISTIC},
            {COMPONENT(client), .priority = 2, .hardware = MAY_PRINT | MAY_CLEAN | MAY_SET_TICK,
             .spec = MXU_DETERMINISTIC, .call_count = 1, .calls = {2}},
        },
};
