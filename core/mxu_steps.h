/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The proof that each change of the list (core/mxu_list.c) leaves it in order. A predicate says what the
 * change writes between two points A and B; a lemma for each part of mxu_is_list() says that the part
 * holds at B if the list was in order at A.
 */
#ifndef BULKHEAD_CORE_MXU_STEPS_H
#define BULKHEAD_CORE_MXU_STEPS_H

#include "core/mxu_list.h"

/*@ // Range n, between p and x, became free.
    predicate mxu_left{A, B}(struct mxu_trie *t, integer n, integer p, integer x) =
        mxu_kept_arrays{A, B}(t) && mxu_kept_ends{A, B}(t, n) && mxu_kept_next{A, B}(t, n, p) &&
        mxu_kept_previous{A, B}(t, n, x) &&
        \at(t->ranges[n].first, B) == UINT32_MAX && \at(t->ranges[n].last, B) == 0 &&
        \at(t->ranges[n].next, B) == \at(t->free_ranges, A) && \at(t->free_ranges, B) == n &&
        mxu_is_range_or_none{B}(t, \at(t->ranges[n].previous, B)) &&
        (p != MXU_NONE ==> \at(t->ranges[p].next, B) == x && \at(t->first, B) == \at(t->first, A)) &&
        (p == MXU_NONE ==> \at(t->first, B) == x) &&
        (x != MXU_NONE ==> \at(t->ranges[x].previous, B) == p);
    predicate mxu_was_between{A}(struct mxu_trie *t, integer n, integer p, integer x) =
        mxu_used{A}(t, n) && p == \at(t->ranges[n].previous, A) && x == \at(t->ranges[n].next, A);

    predicate mxu_leaves{A, B}(struct mxu_trie *t, integer n, integer p, integer x) =
        mxu_was_between{A}(t, n, p, x) && mxu_left{A, B}(t, n, p, x) && mxu_is_list{A}(t) &&
        mxu_disjoint{A}(t);

    lemma mxu_left_use{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x, integer r;
            mxu_was_between{A}(t, n, p, x) && mxu_left{A, B}(t, n, p, x) ==>
            (mxu_used{B}(t, r) <==> mxu_used{A}(t, r) && r != n);
    lemma mxu_left_list_in_bounds{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_list_in_bounds{B}(t);
    lemma mxu_left_list_free{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_list_free{B}(t);
    lemma mxu_left_list_free_once{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_list_free_once{B}(t);
    lemma mxu_left_next_used{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_next_used{B}(t);
    lemma mxu_left_next_back{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_next_back{B}(t);
    lemma mxu_left_next_above{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_next_above{B}(t);
    lemma mxu_left_list_previous{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_list_previous{B}(t);
    lemma mxu_left_list_order{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_list_order{B}(t);
    lemma mxu_left_first_used{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_first_used{B}(t);
    lemma mxu_left_first_least{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_first_least{B}(t);
    lemma mxu_left_first_alone{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_leaves{A, B}(t, n, p, x) ==> mxu_first_alone{B}(t);
    lemma mxu_left_disjoint{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_was_between{A}(t, n, p, x) && mxu_left{A, B}(t, n, p, x) &&
            mxu_disjoint{A}(t) ==> mxu_disjoint{B}(t);

    // Range n came between p and x; it was the first free one.
    predicate mxu_came{A, B}(struct mxu_trie *t, integer n, integer p, integer x) =
        mxu_kept_arrays{A, B}(t) && mxu_kept_ends{A, B}(t, n) && mxu_kept_next{A, B}(t, n, p) &&
        mxu_kept_previous{A, B}(t, n, x) &&
        \at(t->ranges[n].first, B) <= \at(t->ranges[n].last, B) && \at(t->ranges[n].first, B) < UINT32_MAX &&
        \at(t->ranges[n].next, B) == x && \at(t->ranges[n].previous, B) == p &&
        \at(t->free_ranges, B) == \at(t->ranges[n].next, A) &&
        (p != MXU_NONE ==> \at(t->ranges[p].next, B) == n && \at(t->first, B) == \at(t->first, A)) &&
        (p == MXU_NONE ==> \at(t->first, B) == n) &&
        (x != MXU_NONE ==> \at(t->ranges[x].previous, B) == n);
    predicate mxu_fits_between{A, B}(struct mxu_trie *t, integer n, integer p, integer x) =
        n == \at(t->free_ranges, A) && n != MXU_NONE && 0 <= n < \at(t->range_count, A) &&
        !mxu_used{A}(t, n) &&
        (p == MXU_NONE ==> x == \at(t->first, A)) &&
        (p != MXU_NONE ==> mxu_used{A}(t, p) && x == \at(t->ranges[p].next, A) &&
            \at(t->ranges[p].last, A) < \at(t->ranges[n].first, B)) &&
        (x != MXU_NONE ==> \at(t->ranges[n].last, B) < \at(t->ranges[x].first, A));

    predicate mxu_comes{A, B}(struct mxu_trie *t, integer n, integer p, integer x) =
        mxu_fits_between{A, B}(t, n, p, x) && mxu_came{A, B}(t, n, p, x) && mxu_is_list{A}(t) &&
        mxu_disjoint{A}(t);

    lemma mxu_came_use{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x, integer r;
            mxu_fits_between{A, B}(t, n, p, x) && mxu_came{A, B}(t, n, p, x) ==>
            (mxu_used{B}(t, r) <==> mxu_used{A}(t, r) || r == n);
    lemma mxu_came_list_in_bounds{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_list_in_bounds{B}(t);
    lemma mxu_came_list_free{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_fits_between{A, B}(t, n, p, x) && mxu_came{A, B}(t, n, p, x) && mxu_list_free{A}(t) &&
            mxu_list_free_once{A}(t) ==> mxu_list_free{B}(t);
    lemma mxu_came_list_free_once{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_fits_between{A, B}(t, n, p, x) && mxu_came{A, B}(t, n, p, x) && mxu_list_free{A}(t) &&
            mxu_list_free_once{A}(t) ==> mxu_list_free_once{B}(t);
    lemma mxu_came_next_used{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_next_used{B}(t);
    lemma mxu_came_next_back{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_next_back{B}(t);
    lemma mxu_came_next_above{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_next_above{B}(t);
    lemma mxu_came_list_previous{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_list_previous{B}(t);
    // Its order in three parts: of the new range, up to the new range, and among the others.
    predicate mxu_order_of{A, B}(struct mxu_trie *t, integer n) =
        \forall integer s; mxu_used{A}(t, s) && \at(t->ranges[n].first, B) < \at(t->ranges[s].first, B) ==>
            \at(t->ranges[n].next, B) != MXU_NONE &&
            \at(t->ranges[\at(t->ranges[n].next, B)].first, B) <= \at(t->ranges[s].first, B);
    predicate mxu_order_to{A, B}(struct mxu_trie *t, integer n) =
        \forall integer r; mxu_used{A}(t, r) && \at(t->ranges[r].first, B) < \at(t->ranges[n].first, B) ==>
            \at(t->ranges[r].next, B) != MXU_NONE &&
            \at(t->ranges[\at(t->ranges[r].next, B)].first, B) <= \at(t->ranges[n].first, B);
    predicate mxu_order_else{A, B}(struct mxu_trie *t) =
        \forall integer r, integer s; mxu_used{A}(t, r) && mxu_used{A}(t, s) &&
            \at(t->ranges[r].first, B) < \at(t->ranges[s].first, B) ==>
            \at(t->ranges[r].next, B) != MXU_NONE &&
            \at(t->ranges[\at(t->ranges[r].next, B)].first, B) <= \at(t->ranges[s].first, B);
    predicate mxu_use_came{A, B}(struct mxu_trie *t, integer n) =
        \forall integer r; mxu_used{B}(t, r) <==> mxu_used{A}(t, r) || r == n;
    lemma mxu_came_use_of_all{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_fits_between{A, B}(t, n, p, x) && mxu_came{A, B}(t, n, p, x) ==>
            mxu_use_came{A, B}(t, n);
    lemma mxu_came_order_of{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==>             mxu_order_of{A, B}(t, n);
    lemma mxu_came_order_to{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==>             mxu_order_to{A, B}(t, n);
    lemma mxu_came_order_else{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==>             mxu_order_else{A, B}(t);
    lemma mxu_order_joined{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_order_of{A, B}(t, n) && mxu_order_to{A, B}(t, n) && mxu_order_else{A, B}(t) &&
            mxu_use_came{A, B}(t, n) ==> mxu_list_order{B}(t);
    predicate mxu_came_apart{A, B}(struct mxu_trie *t, integer n) =
        \forall integer r; mxu_used{A}(t, r) ==>
            \at(t->ranges[r].last, A) < \at(t->ranges[n].first, B) ||
            \at(t->ranges[n].last, B) < \at(t->ranges[r].first, A);
    lemma mxu_came_disjoint{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_use_came{A, B}(t, n) && mxu_kept_ends{A, B}(t, n) && mxu_kept_arrays{A, B}(t) &&
            !mxu_used{A}(t, n) && mxu_disjoint{A}(t) && mxu_came_apart{A, B}(t, n) ==> mxu_disjoint{B}(t);
    lemma mxu_came_first_used{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_first_used{B}(t);
    lemma mxu_came_first_least{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_first_least{B}(t);
    lemma mxu_came_first_alone{A, B}:
        \forall struct mxu_trie *t, integer n, integer p, integer x;
            mxu_comes{A, B}(t, n, p, x) ==> mxu_first_alone{B}(t);

    lemma mxu_kept_disjoint{A, B}:
        \forall struct mxu_trie *t;
            mxu_kept_arrays{A, B}(t) && mxu_kept_ends{A, B}(t, -1) && mxu_disjoint{A}(t) ==>
            mxu_disjoint{B}(t);

    // The last address of range n, and nothing else of the list, changed.
    predicate mxu_resized{A, B}(struct mxu_trie *t, integer n) =
        mxu_kept_arrays{A, B}(t) && mxu_kept_ends{A, B}(t, n) && mxu_kept_next{A, B}(t, -1, -1) &&
        mxu_kept_previous{A, B}(t, -1, -1) && \at(t->ranges[n].first, A) == \at(t->ranges[n].first, B) &&
        \at(t->first, A) == \at(t->first, B) && \at(t->free_ranges, A) == \at(t->free_ranges, B);
    predicate mxu_may_resize{A, B}(struct mxu_trie *t, integer n) =
        mxu_used{A}(t, n) && \at(t->ranges[n].first, B) <= \at(t->ranges[n].last, B) &&
        (\at(t->ranges[n].next, A) != MXU_NONE ==>
            \at(t->ranges[n].last, B) < \at(t->ranges[\at(t->ranges[n].next, A)].first, A));

    predicate mxu_resizes{A, B}(struct mxu_trie *t, integer n) =
        mxu_may_resize{A, B}(t, n) && mxu_resized{A, B}(t, n);

    lemma mxu_resized_use{A, B}:
        \forall struct mxu_trie *t, integer n, integer r;
            mxu_resizes{A, B}(t, n) ==>
            (mxu_used{A}(t, r) <==> mxu_used{B}(t, r));
    lemma mxu_resized_list_in_bounds{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_list_in_bounds{A}(t) ==> mxu_list_in_bounds{B}(t);
    lemma mxu_resized_list_free{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_list_free{A}(t) ==> mxu_list_free{B}(t);
    lemma mxu_resized_list_free_once{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_list_free_once{A}(t) ==> mxu_list_free_once{B}(t);
    lemma mxu_resized_next_used{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_next_used{A}(t) ==> mxu_next_used{B}(t);
    lemma mxu_resized_next_back{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_next_used{A}(t) && mxu_next_back{A}(t) ==> mxu_next_back{B}(t);
    lemma mxu_resized_next_above{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_next_used{A}(t) && mxu_next_above{A}(t) ==> mxu_next_above{B}(t);
    lemma mxu_resized_list_previous{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_list_previous{A}(t) ==> mxu_list_previous{B}(t);
    lemma mxu_resized_list_order{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_list_order{A}(t) && mxu_list_in_bounds{A}(t) ==>
            mxu_list_order{B}(t);
    lemma mxu_resized_first_used{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_first_used{A}(t) ==> mxu_first_used{B}(t);
    lemma mxu_resized_first_least{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_first_used{A}(t) && mxu_first_least{A}(t) ==>
            mxu_first_least{B}(t);
    lemma mxu_resized_first_alone{A, B}:
        \forall struct mxu_trie *t, integer n;
            mxu_resizes{A, B}(t, n) && mxu_first_alone{A}(t) ==> mxu_first_alone{B}(t); */

#endif
