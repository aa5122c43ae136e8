/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The main TLB as a resource (X5). Lockable entries: the fewest that map a range. Coloring: bits of the
 * virtual address select a set, so components with different sets never evict each other's entries, and a
 * component with no more pages in a set than the TLB has ways evicts none of its own. Pure functions, called
 * by the memory manager.
 */
#ifndef BULKHEAD_CORE_MXU_TLB_H
#define BULKHEAD_CORE_MXU_TLB_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_TLB_MOST_SETS 64u
#define MXU_PAGE_BITS     12u

struct mxu_tlb {
    uint32_t
        sets; /* a power of two, at most MXU_TLB_MOST_SETS; chosen by the lowest bits of the page number */
    uint32_t ways;
};

/* Sizes of entries that can be locked: bit n stands for 2^n bytes. */
#define MXU_ENTRY_SMALL        (1u << 12)
#define MXU_ENTRY_LARGE        (1u << 16)
#define MXU_ENTRY_SECTION      (1u << 20)
#define MXU_ENTRY_SUPERSECTION (1u << 24)

/* The smallest number of entries that map [virtual_first, virtual_first + bytes) to memory at physical_first
 * and nothing more; 0 if the range does not consist of whole entries of the smallest size. */
uint32_t mxu_locked_entries(uint32_t virtual_first, uint32_t physical_first, uint32_t bytes, uint32_t sizes);

/* The sets that belong to a component (bit s for set s), and the number of its 4 KiB pages in each set. */
struct mxu_tlb_share {
    uint64_t sets;
    uint8_t pages[MXU_TLB_MOST_SETS];
};

/* Finds the lowest address at or after `from` at which `pages` lie in the share's sets; if `resident`,
 * with no more pages in a set than there are ways, so that they stay in the TLB. MXU_ENOHW if there are
 * too few sets or they are not adjacent; MXU_EBUSY if they are used up; MXU_ENOMEM at the end of the
 * address space. */
enum mxu_status mxu_tlb_find(const struct mxu_tlb *tlb, const struct mxu_tlb_share *share, uint32_t pages,
                             bool resident, uint32_t from, uint32_t *address);

/* Adds pages that must stay in the TLB to the share's counts, or removes them. */
void mxu_tlb_take(const struct mxu_tlb *tlb, struct mxu_tlb_share *share, uint32_t address, uint32_t pages);
void mxu_tlb_release(const struct mxu_tlb *tlb, struct mxu_tlb_share *share, uint32_t address,
                     uint32_t pages);

#ifdef __cplusplus
}
#endif

#endif
