/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The list of a trie's ranges.
 */
#include "core/mxu_list.h"

void mxu_list_init(struct mxu_trie *trie)
{
    struct mxu_range *ranges = trie->ranges;
    uint32_t count = trie->range_count;
    int16_t next = MXU_NONE;

    /*@ loop invariant 0 <= i <= count && (i < count ==> next == i) && (i == count ==> next == MXU_NONE);
        loop invariant \forall integer r; i <= r < count ==>
            ranges[r].first == UINT32_MAX && ranges[r].last == 0 && ranges[r].previous == MXU_NONE &&
            ((r + 1 < count && ranges[r].next == r + 1) || (r + 1 == count && ranges[r].next == MXU_NONE));
        loop assigns i, next, ranges[0 .. count - 1];
        loop variant i; */
    for (uint32_t i = count; i > 0; i--) {
        ranges[i - 1] = (struct mxu_range){.first = UINT32_MAX, .next = next, .previous = MXU_NONE};
        next = (int16_t)(i - 1);
    }
    /*@ assert arrays: trie->ranges == ranges && trie->range_count == count; */
    trie->first = MXU_NONE;
    trie->free_ranges = next;
    trie->used_ranges = 0;
    /*@ assert still: trie->ranges == ranges && trie->range_count == count; */
    /*@ assert free: \forall integer r; 0 <= r < count ==> !mxu_used(trie, r) &&
        ranges[r].first == UINT32_MAX && ranges[r].previous == MXU_NONE &&
        ((r + 1 < count && ranges[r].next == r + 1) || (r + 1 == count && ranges[r].next == MXU_NONE)); */
    /*@ assert once: mxu_list_free_once(trie); */
}

bool mxu_list_has_place(const struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous)
{
    int16_t next = trie->first;

    if (previous != MXU_NONE) {
        if (trie->ranges[previous].first > first || trie->ranges[previous].last >= first) {
            return false;
        }
        next = trie->ranges[previous].next;
    }
    /*@ assert bound: next != MXU_NONE ==> 0 <= next < trie->range_count; */
    /*@ assert used: previous != MXU_NONE ==> mxu_used(trie, previous); */
    return next == MXU_NONE || trie->ranges[next].first > last;
}

int16_t mxu_list_insert(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous)
{
    int16_t taken = trie->free_ranges;
    int16_t next = trie->first;
    struct mxu_range *range;

    if (taken == MXU_NONE) {
        return MXU_NONE;
    }
    if (previous != MXU_NONE) {
        next = trie->ranges[previous].next;
    }
    /*@ assert bound: next != MXU_NONE ==> 0 <= next < trie->range_count; */
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
    /*@ assert same: \forall integer r; 0 <= r < trie->range_count && r != taken ==>
            trie->ranges[r].first == \at(trie->ranges[r].first, Pre) &&
            trie->ranges[r].last == \at(trie->ranges[r].last, Pre); */
    /*@ assert mine: trie->ranges[taken].first == first && trie->ranges[taken].last == last; */
    /*@ assert kept: \forall integer r; r != taken && mxu_used(trie, r) ==> mxu_used{Pre}(trie, r); */
    /*@ assert apart: \forall integer r; r != taken && mxu_used(trie, r) ==>
            trie->ranges[r].last < first || last < trie->ranges[r].first; */
    /*@ assert disjoint: mxu_disjoint(trie); */
    return taken;
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

int16_t mxu_list_split(struct mxu_trie *trie, int16_t number, uint32_t at)
{
    struct mxu_range *range = &trie->ranges[number];
    int16_t taken = trie->free_ranges;
    int16_t next = range->next;
    struct mxu_range *above;

    if (taken == MXU_NONE) {
        return MXU_NONE;
    }
    above = &trie->ranges[taken];
    trie->free_ranges = above->next;
    trie->used_ranges++;
    above->first = at;
    above->last = range->last;
    above->word[0] = range->word[0];
    above->word[1] = range->word[1];
    above->previous = number;
    above->next = next;
    above->allocation = range->allocation;
    above->slot = 0;
    above->flags = range->flags;
    range->last = at - 1u;
    range->next = taken;
    if (next != MXU_NONE) {
        trie->ranges[next].previous = taken;
    }
    /*@ assert others: \forall integer r; 0 <= r < trie->range_count && r != taken && r != number ==>
            trie->ranges[r].first == \at(trie->ranges[r].first, Pre) &&
            trie->ranges[r].last == \at(trie->ranges[r].last, Pre); */
    /*@ assert lower: trie->ranges[number].first == \at(trie->ranges[number].first, Pre) &&
            trie->ranges[number].last == at - 1; */
    /*@ assert upper: trie->ranges[taken].first == at &&
            trie->ranges[taken].last == \at(trie->ranges[number].last, Pre); */
    /*@ assert kept: \forall integer r; r != taken && mxu_used(trie, r) ==> mxu_used{Pre}(trie, r); */
    /*@ assert apart: \forall integer r; r != taken && r != number && mxu_used(trie, r) ==>
            trie->ranges[r].last < trie->ranges[number].first ||
            trie->ranges[taken].last < trie->ranges[r].first; */
    /*@ assert disjoint: mxu_disjoint(trie); */
    return taken;
}

void mxu_list_join(struct mxu_trie *trie, int16_t number)
{
    struct mxu_range *range = &trie->ranges[number];
    int16_t next = range->next;
    uint32_t last = trie->ranges[next].last;

    /*@ assert another: mxu_used(trie, next) && next != number; */
    mxu_list_remove(trie, next);
    /*@ assert array: range == trie->ranges + number && mxu_has_arrays(trie); */
    /*@ assert number: mxu_used(trie, number) && range->first == \at(trie->ranges[number].first, Pre); */
    /*@ assert free: \forall integer r; mxu_used(trie, r) && r != number ==>
            last < trie->ranges[r].first || trie->ranges[r].last < range->first; */
    range->last = last;
}
