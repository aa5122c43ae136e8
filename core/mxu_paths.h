/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The nodes of a trie (core/mxu_trie.h, the only caller): enters a range into the entries of its span and
 * removes it from them. It does not access the list of ranges. The ranges of a trie are disjoint.
 */
#ifndef BULKHEAD_CORE_MXU_PATHS_H
#define BULKHEAD_CORE_MXU_PATHS_H

#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The index of the entry of a node that covers `address`. */
/*@ requires \valid_read(node) && mxu_is_shift(node->shift);
    assigns \nothing;
    ensures 0 <= \result < MXU_TRIE_ENTRIES; */
static inline uint32_t mxu_node_index(const struct mxu_node *node, uint32_t address)
{
    return (address >> node->shift) & (MXU_TRIE_ENTRIES - 1u);
}

/* The last address of a node's span. */
/*@ requires \valid_read(node) && mxu_is_shift(node->shift);
    assigns \nothing; */
static inline uint32_t mxu_node_last(const struct mxu_node *node)
{
    return node->base | ((UINT32_C(1) << (node->shift + MXU_TRIE_STRIDE)) - 1u);
}

/* Makes all nodes free, in one list for each placement. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie);
    requires \forall integer n; 0 <= n < trie->node_count ==> trie->nodes[n].placement < MXU_PLACEMENTS;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie) && mxu_narrows(trie); */
void mxu_paths_init(struct mxu_trie *trie);

/* Enters a range, whose first and last are set, into the nodes. Returns false, with the nodes as before, if
 * too few nodes are free. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_nodes_in_bounds(trie);
    requires mxu_used(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie); */
bool mxu_paths_insert(struct mxu_trie *trie, int16_t number);

/* Removes a range from the nodes; it may have been entered only in part. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_nodes_in_bounds(trie);
    requires mxu_used(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie); */
void mxu_paths_remove(struct mxu_trie *trie, int16_t number);

/* Moves the nodes on the path to an address of a range into memory of at least the placement `at_least`.
 * Returns false if too few such nodes are free; some nodes may have moved then. */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie) && mxu_nodes_in_bounds(trie);
    requires 0 <= at_least < MXU_PLACEMENTS;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie); */
bool mxu_paths_place(struct mxu_trie *trie, uint32_t address, enum mxu_placement at_least);

#ifdef __cplusplus
}
#endif

#endif
