/* SPDX-License-Identifier: Apache-2.0
 *
 * A Cortex-A9: lockable TLB entries, table nodes in on-chip memory and in a locked way of the outer cache,
 * ASIDs. The kernel maps with descriptors of all four sizes, and an entry of each size can be locked.
 */
#include "microkernel/manager/manager.h"

#define CACHE_LEVEL 2u /* on-chip memory and locked ways */

const uint32_t hardware_stack_spec = 0;

void hardware_describe(struct mxu_memory *memory, struct mxu_hardware *hardware)
{
    hardware->checker = MXU_MMU;
    hardware->ocm_level = CACHE_LEVEL;
    hardware->way_level = CACHE_LEVEL;
    memory->entry_sizes = MXU_ENTRY_SMALL | MXU_ENTRY_LARGE | MXU_ENTRY_SECTION | MXU_ENTRY_SUPERSECTION;
    memory->tables = &mxu_armv7a_tables;
}

bool hardware_init(struct mxu_component *component, uint32_t seed)
{
    (void)component;
    (void)seed;
    return true;
}

bool hardware_give(uint32_t component)
{
    return give_frames(component, GIVE_TABLES, books.system->hardware.table_frames);
}
