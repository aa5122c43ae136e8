/* SPDX-License-Identifier: Apache-2.0
 *
 * A Cortex-M7: regions, two of which the kernel uses in each component.
 */
#include "core/mxu_crossing.h"
#include "microkernel/manager/manager.h"

/* An exception stores its frame on the stack, and this access must not fault. */
const uint32_t hardware_stack_spec = MXU_DETERMINISTIC;

void hardware_describe(struct mxu_memory *memory, struct mxu_hardware *hardware)
{
    hardware->checker = MXU_MPU;
    hardware->system_regions = books.system->hardware.system_regions;
    memory->most_region_bits = books.system->hardware.most_region_bits;
    memory->longest_access = MXU_LONGEST_ACCESS;
}

bool hardware_init(struct mxu_component *component, uint32_t seed)
{
    static const struct mxu_slot system[MXU_MOST_REGIONS]; /* empty: only the kernel knows their values */
    const struct boot_hardware *given = &books.system->hardware;

    return mxu_regions_init(&component->regions, given->limit[MXU_REGIONS], system, given->system_regions,
                            (enum mxu_policy)given->eviction, seed);
}

bool hardware_give(uint32_t component)
{
    (void)component;
    return true;
}
