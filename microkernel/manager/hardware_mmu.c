/* SPDX-License-Identifier: Apache-2.0
 *
 * A Cortex-A9: four lockable TLB entries, table nodes in the memory on the chip, ASIDs. The kernel maps small
 * pages and sections, so these are what an entry can lock.
 */
#include "board.h"
#include "microkernel/manager/manager.h"

#define LOCKABLE_ENTRIES 4u
#define ASIDS            255u
#define TABLE_FRAMES     4u /* of each component: for 16 MiB in small pages */

const uint32_t hardware_stack_spec = 0;

const struct mxu_hardware hardware = {
    .checker = MXU_MMU,
    .limit =
        {[MXU_LOCKED_ENTRIES] = LOCKABLE_ENTRIES, [MXU_OCM_BYTES] = BOARD_OCM_BYTES, [MXU_ASIDS] = ASIDS},
    .ocm_level = 2,
};

void hardware_describe(struct mxu_memory *memory)
{
    memory->entry_sizes = MXU_ENTRY_SMALL | MXU_ENTRY_SECTION;
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
    return give_frames(component, GIVE_TABLES, TABLE_FRAMES);
}
