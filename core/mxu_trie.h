/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The accessible ranges of a component (X3): a path-compressed radix trie over 32-bit addresses, with the
 * ranges also in a list in the order of their addresses. The fault path calls mxu_trie_find(); the memory
 * manager calls the functions that change a trie. Nothing is allocated: the caller supplies the arrays of
 * nodes and ranges.
 *
 * A root of 128 entries divides the address space into spans of 32 MiB. Below it, a node stands for an
 * aligned span of 32^k granules and divides it into 32 equal entries. An entry, also of the root, is
 * - empty, if no range has an address in its span;
 * - a range, if exactly one has, whole or in part;
 * - a node, if several have: the node of the smallest span that contains all their addresses within the
 *   entry's span. Spans in which nothing branches therefore have no node.
 * The shape depends only on the set of ranges, not on the order of operations.
 *
 * A look-up follows at most MXU_TRIE_LEVELS nodes and compares once, at the end. Insert, remove and split
 * walk at most two paths, those of the range's first and last address.
 */
#ifndef BULKHEAD_CORE_MXU_TRIE_H
#define BULKHEAD_CORE_MXU_TRIE_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_GRANULE_BITS    5u /* the smallest region of an Armv7-M MPU */
#define MXU_GRANULE         (1u << MXU_GRANULE_BITS)
#define MXU_ROOT_SHIFT      25u
#define MXU_ROOT_ENTRIES    128u
#define MXU_ROOT_SPAN       (1u << MXU_ROOT_SHIFT)
#define MXU_TRIE_STRIDE     5u
#define MXU_TRIE_ENTRIES    (1u << MXU_TRIE_STRIDE)
#define MXU_TRIE_LEVELS     4u /* levels of nodes: shifts 5, 10, 15, 20 */
#define MXU_TRIE_TOP        20u
/* The most nodes that one insertion takes. */
#define MXU_TRIE_NEW_NODES  (2u * MXU_TRIE_LEVELS)
/* A number of nodes that always suffices for n ranges: two neighbouring ranges need at most one node of each
 * level. */
#define MXU_TRIE_NODES(n)   (MXU_TRIE_LEVELS * (n))
#define MXU_TRIE_MAX_NODES  0x7FFFu
#define MXU_TRIE_MAX_RANGES 0x7FFEu

/* Values of an entry: a node's number, -1 - N for range N, or MXU_NONE if empty. */
#define MXU_NONE INT16_MIN

/* Conversion between the number of a range and the entry that stands for it. */
/*@ requires 0 <= number;
    assigns \nothing;
    ensures \result == -1 - number; */
static inline int16_t mxu_entry_of(int16_t number)
{
    return (int16_t)(-1 - number);
}

/*@ requires MXU_NONE < entry < 0;
    assigns \nothing;
    ensures \result == -1 - entry; */
static inline int16_t mxu_number_of(int16_t entry)
{
    return (int16_t)(-1 - entry);
}

/* 72 bytes. */
struct mxu_node {
    int16_t entry[MXU_TRIE_ENTRIES];
    uint32_t base; /* first address of the node's span */
    uint8_t shift; /* an entry's span is 2^shift bytes */
    uint8_t placement;
    int16_t next_free; /* next free node of the same placement */
};

/* 24 bytes. first and last + 1 are multiples of MXU_GRANULE; a free range has first UINT32_MAX and last 0. */
struct mxu_range {
    uint32_t first;
    uint32_t last;
    uint32_t
        word[2]; /* for the hardware: RBAR with VALID, without the slot, and RASR; of an MMU the attributes */
    int16_t previous, next; /* neighbours in the order of addresses; `next` also links free ranges */
    uint16_t allocation;    /* allocation that it belongs to; for the user of the trie */
    uint8_t slot;           /* MPU slot in which it was loaded last (core/mxu_regions.h) */
    uint8_t flags;          /* for the user of the trie */
};

struct mxu_trie {
    int16_t root[MXU_ROOT_ENTRIES]; /* entries */
    struct mxu_node *nodes;
    struct mxu_range *ranges;
    uint16_t node_count, range_count;
    int16_t first; /* the range with the lowest address, or MXU_NONE */
    int16_t free_nodes[MXU_PLACEMENTS];
    int16_t free_ranges;
    uint16_t used_nodes, used_ranges;
};

/*@ // What mxu_trie_init() establishes, and everything else here keeps.
    predicate mxu_is_entry{L}(struct mxu_trie *t, integer e) =
        e == MXU_NONE || 0 <= e < t->node_count || 0 <= -1 - e < t->range_count;
    predicate mxu_has_arrays{L}(struct mxu_trie *t) =
        t->node_count <= MXU_TRIE_MAX_NODES && t->range_count <= MXU_TRIE_MAX_RANGES &&
        \valid(t->nodes + (0 .. t->node_count - 1)) && \valid(t->ranges + (0 .. t->range_count - 1));
    predicate mxu_is_shift(integer shift) = shift == 5 || shift == 10 || shift == 15 || shift == 20;
    predicate mxu_is_node_or_none{L}(struct mxu_trie *t, integer n) = n == MXU_NONE || 0 <= n < t->node_count;
    predicate mxu_is_range_or_none{L}(struct mxu_trie *t, integer r) =
        r == MXU_NONE || 0 <= r < t->range_count;
    // Whoever follows any number in a node stays inside of both arrays.
    predicate mxu_root_in_bounds{L}(struct mxu_trie *t) =
        \forall integer i; 0 <= i < MXU_ROOT_ENTRIES ==> mxu_is_entry(t, t->root[i]);
    predicate mxu_entries_in_bounds{L}(struct mxu_trie *t) =
        \forall integer n, integer i; 0 <= n < t->node_count && 0 <= i < MXU_TRIE_ENTRIES ==>
            mxu_is_entry(t, t->nodes[n].entry[i]);
    predicate mxu_free_in_bounds{L}(struct mxu_trie *t) =
        (\forall integer p; 0 <= p < MXU_PLACEMENTS ==> mxu_is_node_or_none(t, t->free_nodes[p])) &&
        (\forall integer n; 0 <= n < t->node_count ==> mxu_is_node_or_none(t, t->nodes[n].next_free));
    predicate mxu_shifts_in_bounds{L}(struct mxu_trie *t) =
        \forall integer n; 0 <= n < t->node_count ==>
            mxu_is_shift(t->nodes[n].shift) && t->nodes[n].placement < MXU_PLACEMENTS;
    predicate mxu_nodes_in_bounds{L}(struct mxu_trie *t) =
        mxu_root_in_bounds(t) && mxu_entries_in_bounds(t) && mxu_free_in_bounds(t) &&
        mxu_shifts_in_bounds(t);
    predicate mxu_list_in_bounds{L}(struct mxu_trie *t) =
        \forall integer r; 0 <= r < t->range_count ==>
            mxu_is_range_or_none(t, t->ranges[r].next) && mxu_is_range_or_none(t, t->ranges[r].previous);
    // Below a node are smaller ones only: a look-up comes to an end.
    predicate mxu_narrows{L}(struct mxu_trie *t) =
        \forall integer n, integer i; 0 <= n < t->node_count && 0 <= i < MXU_TRIE_ENTRIES &&
            t->nodes[n].entry[i] >= 0 ==> t->nodes[t->nodes[n].entry[i]].shift < t->nodes[n].shift;
    predicate mxu_spans{L}(struct mxu_trie *t, integer n, integer address) =
        t->nodes[n].base <= address <= t->nodes[n].base + (32 << t->nodes[n].shift) - 1;
    // An entry on the way to an address of range r is r, or a node whose span has the address.
    predicate mxu_leads{L}(struct mxu_trie *t, integer e, integer r, integer address) =
        e == -1 - r || (0 <= e < t->node_count && mxu_spans(t, e, address));
    predicate mxu_reaches{L}(struct mxu_trie *t, integer r, integer address) =
        mxu_leads(t, t->root[address / MXU_ROOT_SPAN], r, address) &&
        (\forall integer n; 0 <= n < t->node_count && mxu_spans(t, n, address) ==>
            mxu_leads(t, t->nodes[n].entry[(address >> t->nodes[n].shift) % 32], r, address));
    predicate mxu_used{L}(struct mxu_trie *t, integer r) =
        0 <= r < t->range_count && t->ranges[r].first <= t->ranges[r].last;
    // The list has all ranges in use, each one before all that have greater addresses; all others are free.
    predicate mxu_next_used{L}(struct mxu_trie *t) =
        \forall integer r; mxu_used(t, r) && t->ranges[r].next != MXU_NONE ==> mxu_used(t, t->ranges[r].next);
    predicate mxu_next_back{L}(struct mxu_trie *t) =
        \forall integer r; mxu_used(t, r) && t->ranges[r].next != MXU_NONE ==>
            t->ranges[t->ranges[r].next].previous == r;
    predicate mxu_next_above{L}(struct mxu_trie *t) =
        \forall integer r; mxu_used(t, r) && t->ranges[r].next != MXU_NONE ==>
            t->ranges[r].last < t->ranges[t->ranges[r].next].first;
    predicate mxu_list_next{L}(struct mxu_trie *t) =
        mxu_next_used(t) && mxu_next_back(t) && mxu_next_above(t);
    predicate mxu_list_previous{L}(struct mxu_trie *t) =
        \forall integer r; mxu_used(t, r) && t->ranges[r].previous != MXU_NONE ==>
            mxu_used(t, t->ranges[r].previous) && t->ranges[t->ranges[r].previous].next == r;
    predicate mxu_list_order{L}(struct mxu_trie *t) =
        \forall integer r, integer s; mxu_used(t, r) && mxu_used(t, s) &&
            t->ranges[r].first < t->ranges[s].first ==>
            t->ranges[r].next != MXU_NONE && t->ranges[t->ranges[r].next].first <= t->ranges[s].first;
    predicate mxu_first_used{L}(struct mxu_trie *t) =
        t->first != MXU_NONE ==> mxu_used(t, t->first) && t->ranges[t->first].previous == MXU_NONE;
    predicate mxu_first_least{L}(struct mxu_trie *t) =
        \forall integer r; mxu_used(t, r) ==> t->first != MXU_NONE &&
            t->ranges[t->first].first <= t->ranges[r].first < UINT32_MAX;
    predicate mxu_first_alone{L}(struct mxu_trie *t) =
        \forall integer r; mxu_used(t, r) && t->ranges[r].previous == MXU_NONE ==> t->first == r;
    predicate mxu_list_first{L}(struct mxu_trie *t) =
        mxu_first_used(t) && mxu_first_least(t) && mxu_first_alone(t);
    predicate mxu_list_free{L}(struct mxu_trie *t) =
        (t->free_ranges != MXU_NONE ==>
            0 <= t->free_ranges < t->range_count && !mxu_used(t, t->free_ranges)) &&
        (\forall integer r; 0 <= r < t->range_count && !mxu_used(t, r) ==>
            t->ranges[r].first == UINT32_MAX && (t->ranges[r].next == MXU_NONE ||
            (0 <= t->ranges[r].next < t->range_count && !mxu_used(t, t->ranges[r].next) &&
            t->ranges[r].next != t->free_ranges)));
    // A free range is behind one other at most.
    predicate mxu_list_free_once{L}(struct mxu_trie *t) =
        \forall integer r, integer s; 0 <= r < t->range_count && 0 <= s < t->range_count &&
            !mxu_used(t, r) && !mxu_used(t, s) && r != s && t->ranges[r].next != MXU_NONE ==>
            t->ranges[r].next != t->ranges[s].next;
    predicate mxu_is_list{L}(struct mxu_trie *t) =
        mxu_list_next(t) && mxu_list_previous(t) && mxu_list_order(t) && mxu_list_first(t) &&
        mxu_list_free(t) && mxu_list_free_once(t) && mxu_list_in_bounds(t);
    predicate mxu_disjoint{L}(struct mxu_trie *t) =
        \forall integer r, integer s; mxu_used(t, r) && mxu_used(t, s) && r != s ==>
            t->ranges[r].last < t->ranges[s].first || t->ranges[s].last < t->ranges[r].first;
    predicate mxu_is_apart{L}(struct mxu_trie *t) =
        \separated(t, t->nodes + (0 .. t->node_count - 1), t->ranges + (0 .. t->range_count - 1));
    // What every change of a trie asks for and leaves.
    predicate mxu_is_whole{L}(struct mxu_trie *t) =
        \valid(t) && mxu_has_arrays(t) && mxu_is_apart(t) && mxu_nodes_in_bounds(t) && mxu_is_list(t) &&
        mxu_disjoint(t);
    predicate mxu_number_is_apart{L}(struct mxu_trie *t, int16_t *to) =
        \valid(to) && \separated(to, t, t->nodes + (0 .. t->node_count - 1),
            t->ranges + (0 .. t->range_count - 1));
    predicate mxu_is_trie{L}(struct mxu_trie *t) =
        mxu_has_arrays(t) && mxu_nodes_in_bounds(t) && mxu_narrows(t);
 */

/* Initializes an empty trie over the caller's arrays, which must outlive it; every node has `placement`. The
 * counts are at most MXU_TRIE_MAX_NODES and MXU_TRIE_MAX_RANGES. */
/*@ requires \valid(trie) && node_count <= MXU_TRIE_MAX_NODES && range_count <= MXU_TRIE_MAX_RANGES;
    requires \valid(nodes + (0 .. node_count - 1)) && \valid(ranges + (0 .. range_count - 1));
    requires \separated(trie, nodes + (0 .. node_count - 1), ranges + (0 .. range_count - 1));
    requires 0 <= placement < MXU_PLACEMENTS;
    assigns *trie, nodes[0 .. node_count - 1], ranges[0 .. range_count - 1];
    ensures whole: mxu_is_whole(trie); */
void mxu_trie_init(struct mxu_trie *trie, struct mxu_node *nodes, uint16_t node_count,
                   struct mxu_range *ranges, uint16_t range_count, enum mxu_placement placement);

/* Sets the placement of nodes [first, first + count). Only before the first insertion. */
/*@ requires mxu_is_whole(trie) && 0 <= placement < MXU_PLACEMENTS;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie); */
void mxu_trie_give(struct mxu_trie *trie, uint16_t first, uint16_t count, enum mxu_placement placement);

/* The range that holds an address, or null. Reads the root and one entry in each of at most MXU_TRIE_LEVELS
 * nodes. */
/*@ requires \valid_read(trie) && mxu_is_trie(trie);
    assigns \nothing;
    ensures \result != \null ==>
        \exists integer r; 0 <= r < trie->range_count && \result == trie->ranges + r;
    ensures \result != \null ==> \result->first <= address <= \result->last;
    ensures \forall integer r; 0 <= r < trie->range_count && mxu_reaches(trie, r, address) &&
        trie->ranges[r].first <= address <= trie->ranges[r].last ==> \result == trie->ranges + r; */
static inline struct mxu_range *mxu_trie_find(const struct mxu_trie *trie, uint32_t address)
{
    int32_t entry = trie->root[address / MXU_ROOT_SPAN];

    /*@ loop invariant mxu_is_entry(trie, entry);
        loop invariant \forall integer r; 0 <= r < trie->range_count && mxu_reaches(trie, r, address) ==>
            mxu_leads(trie, entry, r, address);
        loop assigns entry;
        loop variant entry < 0 ? 0 : trie->nodes[entry].shift; */
    while (entry >= 0) {
        const struct mxu_node *node = &trie->nodes[entry];

        /*@ assert mxu_is_shift(node->shift); */
        entry = node->entry[(address >> node->shift) % MXU_TRIE_ENTRIES];
    }
    if (entry != MXU_NONE) {
        struct mxu_range *range = &trie->ranges[-1 - entry];

        /*@ assert 0 <= -1 - entry < trie->range_count && range == trie->ranges + (-1 - entry); */
        if (range->first <= address && address <= range->last) {
            return range;
        }
    }
    return 0;
}

/* The number of the range that holds an address, or MXU_NONE. */
/*@ requires \valid_read(trie) && mxu_is_trie(trie);
    assigns \nothing;
    ensures \result == MXU_NONE || 0 <= \result < trie->range_count; */
static inline int16_t mxu_trie_lookup(const struct mxu_trie *trie, uint32_t address)
{
    const struct mxu_range *range = mxu_trie_find(trie, address);

    if (range == 0) {
        return MXU_NONE;
    }
    return (int16_t)(range - trie->ranges);
}

/* The range with the greatest first address that is at most `address`, or MXU_NONE. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie) && mxu_is_list(trie);
    assigns \nothing;
    ensures mxu_is_range_or_none(trie, \result); */
int16_t mxu_trie_at_or_before(const struct mxu_trie *trie, uint32_t address);

/* Inserts [first, last]. *number becomes the number of the new range, with words and flags 0. MXU_EINVAL;
 * MXU_EEXIST if it contains an address of another range; MXU_ENOMEM if no range or too few nodes are free;
 * then nothing changes. Nodes are taken from the strongest placement first. */
/*@ requires mxu_is_whole(trie) && mxu_number_is_apart(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->nodes[0 .. trie->node_count - 1], trie->ranges[0 .. trie->range_count - 1];
    assigns *number;
    ensures whole: mxu_is_whole(trie);
    ensures new: \result == MXU_OK ==> mxu_used(trie, *number) &&
        trie->ranges[*number].first == first && trie->ranges[*number].last == last; */
enum mxu_status mxu_trie_insert(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t *number);

/* Removes a range; nodes that are no longer needed become free. */
/*@ requires mxu_is_whole(trie) && mxu_used(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->nodes[0 .. trie->node_count - 1], trie->ranges[0 .. trie->range_count - 1];
    ensures whole: mxu_is_whole(trie);
    ensures gone: !mxu_used(trie, number); */
void mxu_trie_remove(struct mxu_trie *trie, int16_t number);

/* Splits a range at `at`, a multiple of MXU_GRANULE inside it. *upper becomes the upper range, with the same
 * words, flags and allocation. MXU_EINVAL or MXU_ENOMEM: all ranges are as before, but the nodes on the paths
 * to them may be different ones. */
/*@ requires mxu_is_whole(trie) && mxu_used(trie, number) && mxu_number_is_apart(trie, upper);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->first, trie->free_ranges, trie->used_ranges;
    assigns trie->nodes[0 .. trie->node_count - 1], trie->ranges[0 .. trie->range_count - 1];
    assigns *upper;
    ensures whole: mxu_is_whole(trie);
    ensures used: mxu_used(trie, number);
    ensures split: \result == MXU_OK ==> trie->ranges[number].last == at - 1 && mxu_used(trie, *upper) &&
        *upper != number && trie->ranges[*upper].first == at; */
enum mxu_status mxu_trie_split(struct mxu_trie *trie, int16_t number, uint32_t at, int16_t *upper);

/* Moves each node on the paths to a range to memory of at least the placement `at_least`. MXU_ENOMEM if too
 * few such nodes are free; some nodes may have moved then. */
/*@ requires mxu_is_whole(trie) && 0 <= number < trie->range_count && 0 <= at_least < MXU_PLACEMENTS;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie); */
enum mxu_status mxu_trie_place(struct mxu_trie *trie, int16_t number, enum mxu_placement at_least);

/* The weakest placement of the nodes on the paths to a range; MXU_PLACE_LOCKED if there are none. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie);
    requires 0 <= number < trie->range_count;
    assigns \nothing; */
enum mxu_placement mxu_trie_placement(const struct mxu_trie *trie, int16_t number);

/* Number of nodes that a look-up of the address reads. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie);
    assigns \nothing; */
uint32_t mxu_trie_steps(const struct mxu_trie *trie, uint32_t address);

#ifdef __cplusplus
}
#endif

#endif
