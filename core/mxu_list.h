/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The ranges of a trie in the order of their addresses (core/mxu_trie.h, the only caller). Ranges are
 * disjoint because each is inserted between two neighbours that leave room for it. Nothing here accesses
 * nodes.
 */
#ifndef BULKHEAD_CORE_MXU_LIST_H
#define BULKHEAD_CORE_MXU_LIST_H

#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

/*@ // Between two points in a function, A and B, no range but these has another place now.
    predicate mxu_kept_arrays{A, B}(struct mxu_trie *t) =
        \at(t->ranges, A) == \at(t->ranges, B) && \at(t->range_count, A) == \at(t->range_count, B);
    predicate mxu_kept_ends{A, B}(struct mxu_trie *t, integer n) =
        \forall integer r; 0 <= r < \at(t->range_count, A) && r != n ==>
            \at(t->ranges[r].first, A) == \at(t->ranges[r].first, B) &&
            \at(t->ranges[r].last, A) == \at(t->ranges[r].last, B);
    predicate mxu_kept_next{A, B}(struct mxu_trie *t, integer n, integer m) =
        \forall integer r; 0 <= r < \at(t->range_count, A) && r != n && r != m ==>
            \at(t->ranges[r].next, A) == \at(t->ranges[r].next, B);
    predicate mxu_kept_previous{A, B}(struct mxu_trie *t, integer n, integer m) =
        \forall integer r; 0 <= r < \at(t->range_count, A) && r != n && r != m ==>
            \at(t->ranges[r].previous, A) == \at(t->ranges[r].previous, B);

    // A new range would touch no other, and lie between `previous` and the one behind that.
    predicate mxu_has_place{L}(struct mxu_trie *t, integer first, integer last, integer previous) =
        (previous != MXU_NONE ==> mxu_used(t, previous) && t->ranges[previous].last < first &&
            (t->ranges[previous].next != MXU_NONE ==> last < t->ranges[t->ranges[previous].next].first)) &&
        (previous == MXU_NONE && t->first != MXU_NONE ==> last < t->ranges[t->first].first) &&
        (\forall integer r; mxu_used(t, r) ==> t->ranges[r].last < first || last < t->ranges[r].first); */

/* All ranges become free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie); */
void mxu_list_init(struct mxu_trie *trie);

/* Whether [first, last] can be inserted after the range `previous`, or at the beginning if that is MXU_NONE:
 * it contains no address of another range, and no range lies between `previous` and it. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_is_list(trie) && mxu_disjoint(trie);
    requires first <= last && first < UINT32_MAX && mxu_is_range_or_none(trie, previous);
    assigns \nothing;
    ensures place: \result ==> mxu_has_place(trie, first, last, previous); */
bool mxu_list_has_place(const struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous);

/* Inserts [first, last] after the range `previous`, or at the beginning if that is MXU_NONE;
 * mxu_list_has_place() must hold. Returns the number of the new range, with words and flags 0, or MXU_NONE if
 * no range is free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires first <= last && first < UINT32_MAX && mxu_has_place(trie, first, last, previous);
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_kept_arrays{Pre, Post}(trie);
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie);
    ensures new: \result != MXU_NONE ==> mxu_used(trie, \result) &&
        trie->ranges[\result].first == first && trie->ranges[\result].last == last;
    ensures behind: \result != MXU_NONE && previous != MXU_NONE ==> \result != previous &&
        trie->ranges[previous].next == \result;
    ensures others: mxu_kept_ends{Pre, Post}(trie, \result); */
int16_t mxu_list_insert(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous);

/* Removes a range, which becomes free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires mxu_used(trie, number);
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_kept_arrays{Pre, Post}(trie);
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie);
    ensures gone: !mxu_used(trie, number);
    ensures others: mxu_kept_ends{Pre, Post}(trie, number); */
void mxu_list_remove(struct mxu_trie *trie, int16_t number);

/* Splits a range at `at`, which is inside the range and not its first address: the addresses from `at` on
 * become a new range with the same words, flags and allocation. Returns the number of the new range, or
 * MXU_NONE if no range is free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires mxu_used(trie, number);
    requires trie->ranges[number].first < at <= trie->ranges[number].last && at < UINT32_MAX;
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie);
    ensures used: mxu_used(trie, number);
    ensures split: \result != MXU_NONE ==> trie->ranges[number].last == at - 1 &&
        mxu_used(trie, \result) && \result != number && trie->ranges[number].next == \result &&
        trie->ranges[\result].first == at; */
int16_t mxu_list_split(struct mxu_trie *trie, int16_t number, uint32_t at);

/* Undoes a split: the range takes over the addresses of the next range, which begins where it ends. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires mxu_used(trie, number) && trie->ranges[number].next != MXU_NONE;
    requires trie->ranges[trie->ranges[number].next].first == trie->ranges[number].last + 1;
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures list: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie);
    ensures used: mxu_used(trie, number); */
void mxu_list_join(struct mxu_trie *trie, int16_t number);

#ifdef __cplusplus
}
#endif

#endif
