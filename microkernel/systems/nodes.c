/* SPDX-License-Identifier: Apache-2.0
 *
 * A system without on-chip memory, so that table nodes are placed in a locked way of the outer cache.
 */
#include "microkernel/systems/system.h"

extern const char component_manager[], component_scheduler[], component_walker[];

SYSTEM = {
    .magic = BOOT_MAGIC,
    .version = BOOT_VERSION,
    .bytes = sizeof(struct boot_system),
    .clock_hz = BOARD_CLOCK_HZ,
    .timer_hz = BOARD_TIMER_HZ,
    .hardware =
        {
            .limit = {[MXU_LOCKED_ENTRIES] = 4u, [MXU_WAY_BYTES] = 0x10000u, [MXU_ASIDS] = 255u},
            .most_region_bits = 32u,
            .table_frames = 4u,
        },
    .component_count = 3,
    .component =
        {
            THE_MANAGER,
            THE_SCHEDULER,
            {COMPONENT(walker), .priority = 1, .hardware = MAY_PRINT | MAY_FLUSH_CHECK | MAY_SET_TICK},
        },
};
