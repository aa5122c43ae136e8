/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The ranges of a trie in the order of their addresses (core/mxu_trie.h), which calls this alone. Ranges are
 * disjoint because each is entered between two neighbours that leave room for it; nothing here looks at
 * nodes.
 */
#ifndef BULKHEAD_CORE_MXU_LIST_H
#define BULKHEAD_CORE_MXU_LIST_H

#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enters [first, last] behind the range `previous`, or before all where that is MXU_NONE. MXU_EEXIST if it
 * has an address of a neighbour, or if `previous` is not its neighbour; MXU_ENOMEM if no range is free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires \valid(number) && \separated(number, trie, trie->ranges + (0 .. trie->range_count - 1));
    requires first <= last && first < UINT32_MAX;
    requires previous == MXU_NONE || 0 <= previous < trie->range_count;
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1], *number;
    ensures tested: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie);
    ensures new: \result == MXU_OK ==> mxu_used(trie, *number) &&
        trie->ranges[*number].first == first && trie->ranges[*number].last == last; */
enum mxu_status mxu_list_insert(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t previous,
                                int16_t *number);

/* A range becomes free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires mxu_is_list(trie) && mxu_disjoint(trie);
    requires mxu_used(trie, number);
    assigns trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->ranges[0 .. trie->range_count - 1];
    ensures tested: mxu_is_list(trie);
    ensures disjoint: mxu_disjoint(trie);
    ensures gone: !mxu_used(trie, number); */
void mxu_list_remove(struct mxu_trie *trie, int16_t number);

#ifdef __cplusplus
}
#endif

#endif
