/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The list of a trie's ranges.
 */
#include "core/mxu_list.h"

enum mxu_status mxu_list_insert(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous,
                                int16_t *number)
{
    int16_t taken = trie->free_ranges;
    int16_t next = trie->first;
    struct mxu_range *range;

    if (previous != MXU_NONE) {
        if (trie->ranges[previous].first > first || trie->ranges[previous].last >= first) {
            return MXU_EEXIST;
        }
        next = trie->ranges[previous].next;
    }
    if (next != MXU_NONE && trie->ranges[next].first <= last) {
        return MXU_EEXIST;
    }
    if (taken == MXU_NONE) {
        return MXU_ENOMEM;
    }
    /*@ assert bound: next != MXU_NONE ==> 0 <= next < trie->range_count; */
    /*@ assert used: previous != MXU_NONE ==> mxu_used(trie, previous); */
    /*@ assert gap: \forall integer r; mxu_used(trie, r) ==>
            trie->ranges[r].last < first || last < trie->ranges[r].first; */
    range = &trie->ranges[taken];
    trie->free_ranges = range->next;
    trie->used_ranges++;
    range->first = first;
    range->last = last;
    range->word[0] = 0;
    range->word[1] = 0;
    range->previous = previous;
    range->next = next;
    range->allocation = 0;
    range->slot = 0;
    range->flags = 0;
    if (previous == MXU_NONE) {
        trie->first = taken;
    } else {
        trie->ranges[previous].next = taken;
    }
    if (next != MXU_NONE) {
        trie->ranges[next].previous = taken;
    }
    *number = taken;
    /*@ assert same: \forall integer r; 0 <= r < trie->range_count && r != taken ==>
            trie->ranges[r].first == \at(trie->ranges[r].first, Pre) &&
            trie->ranges[r].last == \at(trie->ranges[r].last, Pre); */
    /*@ assert mine: trie->ranges[taken].first == first && trie->ranges[taken].last == last; */
    /*@ assert kept: \forall integer r; r != taken && mxu_used(trie, r) ==> mxu_used{Pre}(trie, r); */
    /*@ assert apart: \forall integer r; r != taken && mxu_used(trie, r) ==>
            trie->ranges[r].last < first || last < trie->ranges[r].first; */
    /*@ assert disjoint: mxu_disjoint(trie); */
    return MXU_OK;
}

void mxu_list_remove(struct mxu_trie *trie, int16_t number)
{
    struct mxu_range *range = &trie->ranges[number];
    int16_t previous = range->previous;
    int16_t next = range->next;

    if (previous == MXU_NONE) {
        trie->first = next;
    } else {
        trie->ranges[previous].next = next;
    }
    if (next != MXU_NONE) {
        trie->ranges[next].previous = previous;
    }
    range->first = UINT32_MAX;
    range->last = 0;
    range->next = trie->free_ranges;
    trie->free_ranges = number;
    trie->used_ranges--;
}
