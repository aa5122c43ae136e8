/* SPDX-License-Identifier: Apache-2.0
 *
 * A component that uses only malloc().
 */
#include "core/mxu_mpu.h"
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_heap[];

SYSTEM = {
    SYSTEM_HEADER,
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(heap), .priority = 1, .hardware = MAY_PRINT},
        },
    .memory_count = 1,
    .memory = {{.name = "heap",
                .bytes = 8192,
                .rights = MXU_READ | MXU_WRITE,
                .component = 2,
                .flags = MEMORY_HEAP}},
};
