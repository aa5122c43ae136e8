/* SPDX-License-Identifier: Apache-2.0
 *
 * A Cortex-M7: eight regions, of which the kernel takes two in each component.
 */
#include "board.h"
#include "core/mxu_crossing.h"
#include "microkernel/manager/manager.h"

#define SYSTEM_REGIONS 2u
#define NO_LIMIT       32u

/* An exception stores its frame there, and must not fault. */
const uint32_t hardware_stack_spec = MXU_DETERMINISTIC;

const struct mxu_hardware hardware = {
    .checker = MXU_MPU,
    .limit = {[MXU_REGIONS] = MXU_MOST_REGIONS},
    .system_regions = SYSTEM_REGIONS,
};

void hardware_describe(struct mxu_memory *memory)
{
    memory->most_region_bits = NO_LIMIT;
    memory->longest_access = MXU_LONGEST_ACCESS;
}

bool hardware_init(struct mxu_component *component, uint32_t seed)
{
    static const struct mxu_slot system[SYSTEM_REGIONS]; /* the kernel knows them */

    return mxu_regions_init(&component->regions, MXU_MOST_REGIONS, system, SYSTEM_REGIONS, BOARD_EVICTION,
                            seed);
}

bool hardware_give(uint32_t component)
{
    (void)component;
    return true;
}
