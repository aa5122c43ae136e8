/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The main TLB: lockable entries and sets.
 */
#include "core/mxu_tlb.h"

#define ADDRESS_BITS 32u

uint32_t mxu_locked_entries(uint32_t virtual_first, uint32_t physical_first, uint32_t bytes, uint32_t sizes)
{
    uint64_t left = bytes;
    uint64_t virtual = virtual_first;
    uint64_t physical = physical_first;
    uint32_t count = 0;

    if (virtual + left > UINT64_C(1) << ADDRESS_BITS || physical + left > UINT64_C(1) << ADDRESS_BITS) {
        return 0;
    }
    /* The largest entry that fits belongs to a smallest selection, because each entry size divides the
     * next. */
    while (left > 0) {
        uint64_t size = 0;

        for (uint32_t bit = 0; bit < ADDRESS_BITS; bit++) {
            uint64_t next = UINT64_C(1) << bit;

            if ((sizes & next) != 0 && next <= left && ((virtual | physical) & (next - 1u)) == 0) {
                size = next;
            }
        }
        if (size == 0) {
            return 0;
        }
        virtual += size;
        physical += size;
        left -= size;
        count++;
    }
    return count;
}

static uint32_t set_of(const struct mxu_tlb *tlb, uint64_t page)
{
    return (uint32_t)page & (tlb->sets - 1u);
}

/* Whether the pages that start at set `set` lie in the share's sets; if `count`, together with the pages
 * counted before; if `resident`, with no more pages in a set than it has ways. */
static bool fits_from(const struct mxu_tlb *tlb, const struct mxu_tlb_share *share, uint32_t set,
                      uint32_t pages, bool resident, bool count)
{
    /* bound: MXU_TLB_MOST_SETS */
    for (uint32_t i = 0; i < tlb->sets && i < pages; i++) {
        uint32_t at = set_of(tlb, (uint64_t)set + i);
        uint32_t of_run = (pages - i + tlb->sets - 1u) / tlb->sets;
        uint32_t before = count ? share->pages[at] : 0;

        if ((share->sets >> at & 1u) == 0 ||
            (resident && of_run > tlb->ways - (before < tlb->ways ? before : tlb->ways))) {
            return false;
        }
    }
    return true;
}

enum mxu_status mxu_tlb_find(const struct mxu_tlb *tlb, const struct mxu_tlb_share *share, uint32_t pages,
                             bool resident, uint32_t from, uint32_t *address)
{
    uint64_t first = ((uint64_t)from + (1u << MXU_PAGE_BITS) - 1u) >> MXU_PAGE_BITS;
    bool ever = false;

    if (pages == 0) {
        return MXU_EINVAL;
    }
    for (uint32_t i = 0; i < tlb->sets; i++) {
        uint32_t set = set_of(tlb, first + i);

        if (fits_from(tlb, share, set, pages, resident, true)) {
            uint64_t at = (first + i) << MXU_PAGE_BITS;

            if (at + ((uint64_t)pages << MXU_PAGE_BITS) > UINT64_C(1) << ADDRESS_BITS) {
                return MXU_ENOMEM;
            }
            *address = (uint32_t)at;
            return MXU_OK;
        }
        ever = ever || fits_from(tlb, share, set, pages, resident, false);
    }
    return ever ? MXU_EBUSY : MXU_ENOHW;
}

void mxu_tlb_take(const struct mxu_tlb *tlb, struct mxu_tlb_share *share, uint32_t address, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++) {
        share->pages[set_of(tlb, (address >> MXU_PAGE_BITS) + (uint64_t)i)]++;
    }
}

void mxu_tlb_release(const struct mxu_tlb *tlb, struct mxu_tlb_share *share, uint32_t address, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++) {
        share->pages[set_of(tlb, (address >> MXU_PAGE_BITS) + (uint64_t)i)]--;
    }
}
