/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Wrappers with contracts for the whole trie, by which core/mxu_trie.c calls core/mxu_list.h and
 * core/mxu_paths.h: a function of the list leaves the nodes unchanged, and a function of the nodes leaves the
 * list unchanged. Each `assert` is a step of the proof of this (docs/design/proofs.md).
 */
#ifndef BULKHEAD_CORE_MXU_PARTS_H
#define BULKHEAD_CORE_MXU_PARTS_H

#include "core/mxu_list.h"
#include "core/mxu_paths.h"
#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

/*@ // Between two points in a function, A and B, this did not change.
    predicate mxu_same_arrays{A, B}(struct mxu_trie *t) =
        \at(t->nodes, A) == \at(t->nodes, B) && \at(t->node_count, A) == \at(t->node_count, B) &&
        \at(t->ranges, A) == \at(t->ranges, B) && \at(t->range_count, A) == \at(t->range_count, B);
    predicate mxu_same_list{A, B}(struct mxu_trie *t) =
        mxu_same_arrays{A, B}(t) && \at(t->first, A) == \at(t->first, B) &&
        \at(t->free_ranges, A) == \at(t->free_ranges, B) && mxu_kept_ends{A, B}(t, -1) &&
        mxu_kept_next{A, B}(t, -1, -1) && mxu_kept_previous{A, B}(t, -1, -1);
    predicate mxu_same_root{A, B}(struct mxu_trie *t) =
        \forall integer i; 0 <= i < MXU_ROOT_ENTRIES ==> \at(t->root[i], A) == \at(t->root[i], B);
    predicate mxu_same_free{A, B}(struct mxu_trie *t) =
        \forall integer p; 0 <= p < MXU_PLACEMENTS ==>
            \at(t->free_nodes[p], A) == \at(t->free_nodes[p], B);
    predicate mxu_same_entries{A, B}(struct mxu_trie *t) =
        \forall integer n, integer i; 0 <= n < \at(t->node_count, A) && 0 <= i < MXU_TRIE_ENTRIES ==>
            \at(t->nodes[n].entry[i], A) == \at(t->nodes[n].entry[i], B);
    predicate mxu_same_next_free{A, B}(struct mxu_trie *t) =
        \forall integer n; 0 <= n < \at(t->node_count, A) ==>
            \at(t->nodes[n].next_free, A) == \at(t->nodes[n].next_free, B);
    predicate mxu_same_shift{A, B}(struct mxu_trie *t) =
        \forall integer n; 0 <= n < \at(t->node_count, A) ==>
            \at(t->nodes[n].shift, A) == \at(t->nodes[n].shift, B);
    predicate mxu_same_placement{A, B}(struct mxu_trie *t) =
        \forall integer n; 0 <= n < \at(t->node_count, A) ==>
            \at(t->nodes[n].placement, A) == \at(t->nodes[n].placement, B);
    predicate mxu_same_nodes{A, B}(struct mxu_trie *t) =
        mxu_same_arrays{A, B}(t) && mxu_same_root{A, B}(t) && mxu_same_free{A, B}(t) &&
        mxu_same_entries{A, B}(t) && mxu_same_next_free{A, B}(t) && mxu_same_shift{A, B}(t) &&
        mxu_same_placement{A, B}(t);

    predicate mxu_nodes_apart{L}(struct mxu_trie *t) =
        \separated(&t->nodes, t->ranges + (0 .. t->range_count - 1)) &&
        \separated(&t->ranges, t->ranges + (0 .. t->range_count - 1)) &&
        \separated(&t->node_count, t->ranges + (0 .. t->range_count - 1)) &&
        \separated(&t->range_count, t->ranges + (0 .. t->range_count - 1)) &&
        (\forall integer i; 0 <= i < MXU_ROOT_ENTRIES ==>
            \separated(&t->root[i], t->ranges + (0 .. t->range_count - 1))) &&
        (\forall integer p; 0 <= p < MXU_PLACEMENTS ==>
            \separated(&t->free_nodes[p], t->ranges + (0 .. t->range_count - 1))) &&
        (\forall integer n; 0 <= n < t->node_count ==>
            \separated(&t->nodes[n].next_free, t->ranges + (0 .. t->range_count - 1)) &&
            \separated(&t->nodes[n].shift, t->ranges + (0 .. t->range_count - 1)) &&
            \separated(&t->nodes[n].placement, t->ranges + (0 .. t->range_count - 1))) &&
        (\forall integer n, integer i; 0 <= n < t->node_count && 0 <= i < MXU_TRIE_ENTRIES ==>
            \separated(&t->nodes[n].entry[i], t->ranges + (0 .. t->range_count - 1)));

    predicate mxu_fields_apart{L}(struct mxu_trie *t, int16_t *to) =
        \separated(to, &t->first) && \separated(to, &t->free_ranges) &&
        (\forall integer i; 0 <= i < MXU_ROOT_ENTRIES ==> \separated(to, &t->root[i])) &&
        (\forall integer p; 0 <= p < MXU_PLACEMENTS ==> \separated(to, &t->free_nodes[p])) &&
        (\forall integer n; 0 <= n < t->node_count ==> \separated(to, &t->nodes[n].next_free)) &&
        (\forall integer n, integer i; 0 <= n < t->node_count && 0 <= i < MXU_TRIE_ENTRIES ==>
            \separated(to, &t->nodes[n].entry[i])) &&
        (\forall integer r; 0 <= r < t->range_count ==>
            \separated(to, &t->ranges[r].next) && \separated(to, &t->ranges[r].previous));

    lemma mxu_fields_are_apart{L}:
        \forall struct mxu_trie *t, int16_t *to;
            mxu_has_arrays(t) && mxu_number_is_apart(t, to) ==> mxu_fields_apart(t, to);
    lemma mxu_nodes_are_apart{L}:
        \forall struct mxu_trie *t; mxu_has_arrays(t) && mxu_is_apart(t) ==> mxu_nodes_apart(t);
    lemma mxu_use_is_kept{A, B}:
        \forall struct mxu_trie *t, integer r;
            mxu_same_list{A, B}(t) ==> (mxu_used{A}(t, r) <==> mxu_used{B}(t, r));
    lemma mxu_next_is_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_list_in_bounds{A}(t) && mxu_list_next{A}(t) ==> mxu_list_next{B}(t);
    lemma mxu_previous_is_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_list_in_bounds{A}(t) && mxu_list_previous{A}(t) ==>
            mxu_list_previous{B}(t);
    lemma mxu_order_is_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_list_in_bounds{A}(t) && mxu_list_order{A}(t) ==>
            mxu_list_order{B}(t);
    lemma mxu_first_is_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_list_first{A}(t) ==> mxu_list_first{B}(t);
    lemma mxu_free_is_kept{A, B}:
        \forall struct mxu_trie *t; mxu_same_list{A, B}(t) && mxu_list_free{A}(t) ==> mxu_list_free{B}(t);
    lemma mxu_free_once_is_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_list_free_once{A}(t) ==> mxu_list_free_once{B}(t);
    lemma mxu_bounds_are_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_list_in_bounds{A}(t) ==> mxu_list_in_bounds{B}(t);
    lemma mxu_list_is_kept{A, B}:
        \forall struct mxu_trie *t; mxu_same_list{A, B}(t) && mxu_is_list{A}(t) ==> mxu_is_list{B}(t);
    lemma mxu_disjoint_is_kept{A, B}:
        \forall struct mxu_trie *t; mxu_same_list{A, B}(t) && mxu_disjoint{A}(t) ==> mxu_disjoint{B}(t);
    lemma mxu_nodes_are_kept{A, B}:
        \forall struct mxu_trie *t;
            mxu_same_nodes{A, B}(t) && mxu_nodes_in_bounds{A}(t) ==> mxu_nodes_in_bounds{B}(t);
    lemma mxu_list_stays_kept{A, B, C}:
        \forall struct mxu_trie *t;
            mxu_same_list{A, B}(t) && mxu_same_list{B, C}(t) ==> mxu_same_list{A, C}(t); */

/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires \forall integer n; 0 <= n < trie->node_count ==> trie->nodes[n].placement < MXU_PLACEMENTS;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie); */
static inline void mxu_renew_nodes(struct mxu_trie *trie)
{
    mxu_paths_init(trie);
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, -1); */
    /*@ assert next: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previous: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert begin: trie->first == \at(trie->first, Pre); */
    /*@ assert free: trie->free_ranges == \at(trie->free_ranges, Pre); */
    /*@ assert list: mxu_same_list{Pre, Here}(trie); */
}

/*@ requires mxu_is_whole(trie) && mxu_used(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie);
    ensures list: mxu_same_list{Pre, Post}(trie); */
static inline bool mxu_enter_nodes(struct mxu_trie *trie, int16_t number)
{
    bool entered = mxu_paths_insert(trie, number);

    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, -1); */
    /*@ assert next: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previous: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert list: mxu_same_list{Pre, Here}(trie); */
    return entered;
}

/*@ requires mxu_is_whole(trie) && mxu_used(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie);
    ensures list: mxu_same_list{Pre, Post}(trie); */
static inline void mxu_leave_nodes(struct mxu_trie *trie, int16_t number)
{
    mxu_paths_remove(trie, number);
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, -1); */
    /*@ assert next: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previous: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert list: mxu_same_list{Pre, Here}(trie); */
}

/*@ requires mxu_is_whole(trie) && 0 <= at_least < MXU_PLACEMENTS;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie);
    ensures list: mxu_same_list{Pre, Post}(trie); */
static inline bool mxu_move_nodes(struct mxu_trie *trie, uint32_t address, enum mxu_placement at_least)
{
    bool moved = mxu_paths_place(trie, address, at_least);

    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert ends: mxu_kept_ends{Pre, Here}(trie, -1); */
    /*@ assert next: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previous: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert list: mxu_same_list{Pre, Here}(trie); */
    return moved;
}

/*@ requires mxu_is_whole(trie);
    requires first <= last && first < UINT32_MAX && mxu_has_place(trie, first, last, previous);
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures whole: mxu_is_whole(trie) && mxu_same_arrays{Pre, Post}(trie);
    ensures new: \result != MXU_NONE ==> mxu_used(trie, \result) &&
        trie->ranges[\result].first == first && trie->ranges[\result].last == last; */
static inline int16_t mxu_enter_list(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous)
{
    int16_t taken;

    /*@ assert apart: mxu_nodes_apart(trie); */
    taken = mxu_list_insert(trie, first, last, previous);
    /*@ assert pointers: mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert root: mxu_same_root{Pre, Here}(trie); */
    /*@ assert free: mxu_same_free{Pre, Here}(trie); */
    /*@ assert entries: mxu_same_entries{Pre, Here}(trie); */
    /*@ assert next_free: mxu_same_next_free{Pre, Here}(trie); */
    /*@ assert shift: mxu_same_shift{Pre, Here}(trie); */
    /*@ assert placement: mxu_same_placement{Pre, Here}(trie); */
    /*@ assert nodes: mxu_same_nodes{Pre, Here}(trie); */
    return taken;
}

/*@ requires mxu_is_whole(trie) && mxu_used(trie, number);
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures whole: mxu_is_whole(trie) && mxu_same_arrays{Pre, Post}(trie);
    ensures gone: !mxu_used(trie, number); */
static inline void mxu_leave_list(struct mxu_trie *trie, int16_t number)
{
    /*@ assert apart: mxu_nodes_apart(trie); */
    mxu_list_remove(trie, number);
    /*@ assert pointers: mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert root: mxu_same_root{Pre, Here}(trie); */
    /*@ assert free: mxu_same_free{Pre, Here}(trie); */
    /*@ assert entries: mxu_same_entries{Pre, Here}(trie); */
    /*@ assert next_free: mxu_same_next_free{Pre, Here}(trie); */
    /*@ assert shift: mxu_same_shift{Pre, Here}(trie); */
    /*@ assert placement: mxu_same_placement{Pre, Here}(trie); */
    /*@ assert nodes: mxu_same_nodes{Pre, Here}(trie); */
}

/*@ requires mxu_is_whole(trie) && mxu_used(trie, number);
    requires trie->ranges[number].first < at <= trie->ranges[number].last && at < UINT32_MAX;
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures whole: mxu_is_whole(trie) && mxu_used(trie, number) && mxu_same_arrays{Pre, Post}(trie);
    ensures split: \result != MXU_NONE ==> trie->ranges[number].last == at - 1 &&
        mxu_used(trie, \result) && \result != number && trie->ranges[number].next == \result &&
        trie->ranges[\result].first == at; */
static inline int16_t mxu_split_in_list(struct mxu_trie *trie, int16_t number, uint32_t at)
{
    int16_t taken;

    /*@ assert apart: mxu_nodes_apart(trie); */
    taken = mxu_list_split(trie, number, at);
    /*@ assert pointers: mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert root: mxu_same_root{Pre, Here}(trie); */
    /*@ assert free: mxu_same_free{Pre, Here}(trie); */
    /*@ assert entries: mxu_same_entries{Pre, Here}(trie); */
    /*@ assert next_free: mxu_same_next_free{Pre, Here}(trie); */
    /*@ assert shift: mxu_same_shift{Pre, Here}(trie); */
    /*@ assert placement: mxu_same_placement{Pre, Here}(trie); */
    /*@ assert nodes: mxu_same_nodes{Pre, Here}(trie); */
    return taken;
}

/*@ requires mxu_is_whole(trie) && mxu_used(trie, number) && trie->ranges[number].next != MXU_NONE;
    requires trie->ranges[trie->ranges[number].next].first == trie->ranges[number].last + 1;
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures whole: mxu_is_whole(trie) && mxu_used(trie, number) && mxu_same_arrays{Pre, Post}(trie); */
static inline void mxu_join_in_list(struct mxu_trie *trie, int16_t number)
{
    /*@ assert apart: mxu_nodes_apart(trie); */
    mxu_list_join(trie, number);
    /*@ assert pointers: mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert arrays: mxu_has_arrays(trie) && mxu_is_apart(trie); */
    /*@ assert root: mxu_same_root{Pre, Here}(trie); */
    /*@ assert free: mxu_same_free{Pre, Here}(trie); */
    /*@ assert entries: mxu_same_entries{Pre, Here}(trie); */
    /*@ assert next_free: mxu_same_next_free{Pre, Here}(trie); */
    /*@ assert shift: mxu_same_shift{Pre, Here}(trie); */
    /*@ assert placement: mxu_same_placement{Pre, Here}(trie); */
    /*@ assert nodes: mxu_same_nodes{Pre, Here}(trie); */
}

/* Stores a range's number for the caller. */
/*@ requires mxu_is_whole(trie) && mxu_number_is_apart(trie, to);
    assigns *to;
    ensures whole: mxu_is_whole(trie);
    ensures list: mxu_same_list{Pre, Post}(trie);
    ensures told: *to == number; */
static inline void mxu_tell_number(const struct mxu_trie *trie, int16_t number, int16_t *to)
{
    (void)trie;
    /*@ assert apart: mxu_fields_apart(trie, to); */
    *to = number;
    /*@ assert root: mxu_same_root{Pre, Here}(trie); */
    /*@ assert free: mxu_same_free{Pre, Here}(trie); */
    /*@ assert entries: mxu_same_entries{Pre, Here}(trie); */
    /*@ assert next_free: mxu_same_next_free{Pre, Here}(trie); */
    /*@ assert nodes: mxu_same_nodes{Pre, Here}(trie); */
    /*@ assert next: mxu_kept_next{Pre, Here}(trie, -1, -1); */
    /*@ assert previous: mxu_kept_previous{Pre, Here}(trie, -1, -1); */
    /*@ assert list: mxu_same_list{Pre, Here}(trie); */
}

#ifdef __cplusplus
}
#endif

#endif
