/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The list of a trie's ranges, sorted by address.
 */
#include "core/mxu_steps.h"

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

/* Links the list: range `behind` follows range `previous`, or is the first if `previous` is MXU_NONE; range
 * `before` precedes range `next`, if there is one. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_range_or_none(trie, previous) && mxu_is_range_or_none(trie, next);
    assigns trie->first, trie->ranges[0 .. trie->range_count - 1];
    ensures arrays: mxu_kept_arrays{Pre, Post}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    ensures free: trie->free_ranges == \old(trie->free_ranges);
    ensures ends: mxu_kept_ends{Pre, Post}(trie, -1);
    ensures nexts: mxu_kept_next{Pre, Post}(trie, previous, -1);
    ensures previouses: mxu_kept_previous{Pre, Post}(trie, next, -1);
    ensures before: previous != MXU_NONE ==>
        trie->ranges[previous].next == behind && trie->first == \old(trie->first);
    ensures begin: previous == MXU_NONE ==> trie->first == behind;
    ensures behind: next != MXU_NONE ==> trie->ranges[next].previous == before; */
static void connect(struct mxu_trie *trie, int16_t previous, int16_t behind, int16_t next, int16_t before)
{
    if (previous == MXU_NONE) {
        trie->first = behind;
    } else {
        trie->ranges[previous].next = behind;
    }
    /*@ assert arrays_1: mxu_kept_arrays{Pre, Here}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert nexts_1: mxu_kept_next{Pre, Here}(trie, previous, -1); */
    /*@ assert previouses_1: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    if (next != MXU_NONE) {
        trie->ranges[next].previous = before;
    }
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
    /*@ assert filled: mxu_kept_arrays{Pre, Here}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert filled_ends: mxu_kept_ends{Pre, Here}(trie, taken); */
    /*@ assert filled_nexts: mxu_kept_next{Pre, Here}(trie, taken, -1); */
    /*@ assert filled_previouses: mxu_kept_previous{Pre, Here}(trie, taken, -1); */
    /*@ assert filled_first: trie->first == \at(trie->first, Pre); */
    /*@ assert filled_free: trie->free_ranges == \at(trie->ranges[trie->free_ranges].next, Pre); */
    /*@ assert own: trie->ranges[taken].first == first && trie->ranges[taken].last == last &&
            trie->ranges[taken].next == next && trie->ranges[taken].previous == previous; */
    connect(trie, previous, taken, next, taken);
    /*@ assert place: mxu_fits_between{Pre, Here}(trie, taken, previous, next); */
    /*@ assert arrays: mxu_kept_arrays{Pre, Here}(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, taken); */
    /*@ assert nexts: mxu_kept_next{Pre, Here}(trie, taken, previous); */
    /*@ assert previouses: mxu_kept_previous{Pre, Here}(trie, taken, next); */
    /*@ assert between: trie->ranges[taken].next == next && trie->ranges[taken].previous == previous; */
    /*@ assert head: trie->free_ranges == \at(trie->ranges[trie->free_ranges].next, Pre); */
    /*@ assert before: previous != MXU_NONE ==>
            trie->ranges[previous].next == taken && trie->first == \at(trie->first, Pre); */
    /*@ assert begin: previous == MXU_NONE ==> trie->first == taken; */
    /*@ assert behind: next != MXU_NONE ==> trie->ranges[next].previous == taken; */
    /*@ assert came: mxu_came{Pre, Here}(trie, taken, previous, next); */
    /*@ assert use: mxu_use_came{Pre, Here}(trie, taken); */
    /*@ assert order_of: mxu_order_of{Pre, Here}(trie, taken); */
    /*@ assert order_to: mxu_order_to{Pre, Here}(trie, taken); */
    /*@ assert order_else: mxu_order_else{Pre, Here}(trie); */
    /*@ assert order: mxu_list_order(trie); */
    /*@ assert apart: mxu_came_apart{Pre, Here}(trie, taken); */
    /*@ assert disjoint: mxu_disjoint(trie); */
    return taken;
}

void mxu_list_remove(struct mxu_trie *trie, int16_t number)
{
    struct mxu_range *range = &trie->ranges[number];
    int16_t previous = range->previous;
    int16_t next = range->next;

    /*@ assert was: mxu_was_between{Pre}(trie, number, previous, next); */
    /*@ assert others: previous != number && next != number; */
    connect(trie, previous, next, next, previous);
    /*@ assert own: range == trie->ranges + number && mxu_is_range_or_none(trie, range->previous); */
    range->first = UINT32_MAX;
    range->last = 0;
    range->next = trie->free_ranges;
    trie->free_ranges = number;
    trie->used_ranges--;
    /*@ assert arrays: mxu_kept_arrays{Pre, Here}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, number); */
    /*@ assert nexts: mxu_kept_next{Pre, Here}(trie, number, previous); */
    /*@ assert previouses: mxu_kept_previous{Pre, Here}(trie, number, next); */
    /*@ assert gone: trie->ranges[number].first == UINT32_MAX && trie->ranges[number].last == 0; */
    /*@ assert head: trie->free_ranges == number &&
            trie->ranges[number].next == \at(trie->free_ranges, Pre); */
    /*@ assert bound: mxu_is_range_or_none(trie, trie->ranges[number].previous); */
    /*@ assert before: previous != MXU_NONE ==>
            trie->ranges[previous].next == next && trie->first == \at(trie->first, Pre); */
    /*@ assert begin: previous == MXU_NONE ==> trie->first == next; */
    /*@ assert behind: next != MXU_NONE ==> trie->ranges[next].previous == previous; */
    /*@ assert left: mxu_left{Pre, Here}(trie, number, previous, next); */
}

/* Sets another end of the range, one with which it overlaps no other range. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_is_list(trie);
    requires mxu_disjoint(trie) && mxu_used(trie, number) && trie->ranges[number].first <= last;
    requires trie->ranges[number].next != MXU_NONE ==>
        last < trie->ranges[trie->ranges[number].next].first;
    requires \forall integer r; mxu_used(trie, r) && r != number ==>
        trie->ranges[r].last < trie->ranges[number].first || last < trie->ranges[r].first;
    assigns trie->ranges[number].last;
    ensures arrays: mxu_kept_arrays{Pre, Post}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    ensures resized: mxu_resized{Pre, Post}(trie, number) && trie->ranges[number].last == last;
    ensures used: mxu_used(trie, number);
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie); */
static void resize(struct mxu_trie *trie, int16_t number, uint32_t last)
{
    trie->ranges[number].last = last;
    /*@ assert arrays: mxu_kept_arrays{Pre, Here}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, number); */
    /*@ assert nexts: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previouses: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert resized: mxu_resized{Pre, Here}(trie, number); */
    /*@ assert may: mxu_may_resize{Pre, Here}(trie, number); */
}

/* Sets the fields of a range that are not addresses. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_is_list(trie);
    requires mxu_disjoint(trie) && mxu_used(trie, from) && mxu_used(trie, to);
    assigns trie->ranges[to];
    ensures arrays: mxu_kept_arrays{Pre, Post}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    ensures resized: mxu_resized{Pre, Post}(trie, to) && trie->ranges[to].last == \old(trie->ranges[to].last);
    ensures used: mxu_used(trie, from) && mxu_used(trie, to);
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie); */
static void copy_rights(struct mxu_trie *trie, int16_t from, int16_t to)
{
    const struct mxu_range *source = &trie->ranges[from];
    struct mxu_range *range = &trie->ranges[to];

    range->word[0] = source->word[0];
    range->word[1] = source->word[1];
    range->allocation = source->allocation;
    range->flags = source->flags;
    /*@ assert arrays: mxu_kept_arrays{Pre, Here}(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, -1); */
    /*@ assert nexts: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previouses: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert resized: mxu_resized{Pre, Here}(trie, to); */
    /*@ assert may: mxu_may_resize{Pre, Here}(trie, to); */
}

int16_t mxu_list_split(struct mxu_trie *trie, int16_t number, uint32_t at)
{
    uint32_t last = trie->ranges[number].last;
    int16_t taken;

    if (trie->free_ranges == MXU_NONE) {
        return MXU_NONE;
    }
    resize(trie, number, at - 1u);
    /*@ assert place: mxu_has_place(trie, at, last, number); */
    taken = mxu_list_insert(trie, at, last, number);
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_kept_arrays{Pre, Here}(trie); */
    /*@ assert lower: taken != number && mxu_used(trie, number) && trie->ranges[number].last == at - 1; */
    if (taken != MXU_NONE) {
        copy_rights(trie, number, taken);
        /*@ assert both: mxu_used(trie, number) && mxu_used(trie, taken); */
        /*@ assert both_arrays: mxu_kept_arrays{Pre, Here}(trie); */
    }
    return taken;
}

void mxu_list_join(struct mxu_trie *trie, int16_t number)
{
    int16_t next = trie->ranges[number].next;
    uint32_t last = trie->ranges[next].last;

    /*@ assert another: mxu_used(trie, next) && next != number; */
    mxu_list_remove(trie, next);
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_kept_arrays{Pre, Here}(trie); */
    /*@ assert number: mxu_used(trie, number) &&
            trie->ranges[number].first == \at(trie->ranges[number].first, Pre) &&
            trie->ranges[number].last == \at(trie->ranges[number].last, Pre); */
    /*@ assert others: \forall integer r; mxu_used(trie, r) && r != number ==>
            mxu_used{Pre}(trie, r) && r != next; */
    /*@ assert free: \forall integer r; mxu_used(trie, r) && r != number ==>
            last < trie->ranges[r].first || trie->ranges[r].last < trie->ranges[number].first; */
    /*@ assert next: trie->ranges[number].next != MXU_NONE ==>
            mxu_used(trie, trie->ranges[number].next) && trie->ranges[number].next != number &&
            trie->ranges[number].last < trie->ranges[trie->ranges[number].next].first; */
    /*@ assert room: trie->ranges[number].next != MXU_NONE ==>
            last < trie->ranges[trie->ranges[number].next].first; */
    resize(trie, number, last);
}
