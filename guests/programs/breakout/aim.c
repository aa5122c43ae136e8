// SPDX-License-Identifier: Apache-2.0
//
// Stage 1 lets the guest access any guest-physical address: one entry of the runtime's first-level table, a
// GiB, is set to it. Stage 2 decides whether anything is mapped there.
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/programs/breakout/breakout.h"

#define GIB_BYTES       (1ull << 30)
#define BLOCK_OF_DEVICE 0x401ull // valid block, accessed, attribute 0
#define BLOCK_OF_MEMORY 0x705ull // inner shareable, attribute 1
#define ENTRY_ADDRESS   0x0000FFFFC0000000ull

extern uint64_t mmu_level1[];

uint64_t aim(uint64_t ipa, enum aim as)
{
    uint64_t slot = MMU_ADDRESS_END / GIB_BYTES - 1;

    mmu_level1[slot] = 0; // break before make
    cpu_invalidate_translations();
    mmu_level1[slot] = (ipa & ENTRY_ADDRESS) | (as == AIM_DEVICE ? BLOCK_OF_DEVICE : BLOCK_OF_MEMORY);
    cpu_invalidate_translations();
    return slot * GIB_BYTES + ipa % GIB_BYTES;
}
