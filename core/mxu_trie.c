/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The ranges of a trie and their order. core/mxu_paths.c keeps the nodes. Ranges are disjoint because each
 * one is entered in the list between two neighbours that leave room for it, whatever the nodes say.
 */
#include "core/mxu_trie.h"
#include "core/mxu_list.h"
#include "core/mxu_paths.h"

void mxu_trie_init(struct mxu_trie *trie, struct mxu_node *nodes, uint16_t node_count,
                   struct mxu_range *ranges, uint16_t range_count, enum mxu_placement placement)
{
    trie->nodes = nodes;
    trie->node_count = node_count;
    trie->ranges = ranges;
    trie->range_count = range_count;
    for (uint32_t i = 0; i < node_count; i++) {
        nodes[i].placement = (uint8_t)placement;
    }
    mxu_paths_init(trie);
    trie->first = MXU_NONE;
    trie->used_ranges = 0;
    trie->free_ranges = MXU_NONE;
    for (uint32_t i = range_count; i-- > 0;) {
        ranges[i] = (struct mxu_range){.first = UINT32_MAX, .next = trie->free_ranges, .previous = MXU_NONE};
        trie->free_ranges = (int16_t)i;
    }
}

void mxu_trie_give(struct mxu_trie *trie, uint16_t first, uint16_t count, enum mxu_placement placement)
{
    for (uint32_t i = first; i < (uint32_t)first + count && i < trie->node_count; i++) {
        trie->nodes[i].placement = (uint8_t)placement;
    }
    mxu_paths_init(trie);
}

/* The range that an entry has at the highest addresses. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie);
    requires mxu_is_entry(trie, entry);
    assigns \nothing;
    ensures mxu_is_range_or_none(trie, \result); */
static int16_t highest_of(const struct mxu_trie *trie, int16_t entry)
{
    /* bound: MXU_TRIE_LEVELS */
    /*@ loop invariant mxu_is_entry(trie, entry);
        loop assigns entry; */
    while (entry >= 0) {
        const struct mxu_node *node = &trie->nodes[entry];
        uint32_t i = MXU_TRIE_ENTRIES - 1u;

        /*@ loop invariant 0 <= i < MXU_TRIE_ENTRIES;
            loop assigns i;
            loop variant i; */
        while (i > 0 && node->entry[i] == MXU_NONE) {
            i--;
        }
        entry = node->entry[i];
    }
    if (entry == MXU_NONE) {
        return MXU_NONE;
    }
    return mxu_number_of(entry);
}

/* The last range that begins before the span of a root's entry. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie);
    requires index < MXU_ROOT_ENTRIES;
    assigns \nothing;
    ensures mxu_is_range_or_none(trie, \result); */
static int16_t before_root(const struct mxu_trie *trie, uint32_t index)
{
    int16_t entry = MXU_NONE;

    /* bound: MXU_ROOT_ENTRIES */
    /*@ loop invariant index < MXU_ROOT_ENTRIES && mxu_is_entry(trie, entry);
        loop assigns index, entry;
        loop variant index; */
    while (index > 0 && entry == MXU_NONE) {
        index--;
        entry = trie->root[index];
    }
    return highest_of(trie, entry);
}

int16_t mxu_trie_at_or_before(const struct mxu_trie *trie, uint32_t address)
{
    int16_t below = MXU_NONE; /* the nearest entry of a node with lower addresses only */
    int16_t entry = trie->root[address / MXU_ROOT_SPAN];

    /* bound: MXU_TRIE_LEVELS */
    /*@ loop invariant mxu_is_entry(trie, entry) && mxu_is_entry(trie, below);
        loop assigns entry, below; */
    while (entry >= 0) {
        const struct mxu_node *node = &trie->nodes[entry];
        uint32_t index;

        /*@ assert mxu_is_shift(node->shift); */
        index = mxu_node_index(node, address);
        if (address > mxu_node_last(node)) {
            return highest_of(trie, entry);
        }
        if (address < node->base) {
            entry = MXU_NONE;
            break;
        }
        /*@ loop invariant 0 <= i <= index && mxu_is_entry(trie, below);
            loop assigns i, below;
            loop variant index - i; */
        for (uint32_t i = 0; i < index; i++) {
            if (node->entry[i] != MXU_NONE) {
                below = node->entry[i];
            }
        }
        entry = node->entry[index];
    }
    if (entry != MXU_NONE) {
        /* The only range of the entry: if it begins behind the address, the one before it does not. */
        if (trie->ranges[mxu_number_of(entry)].first > address) {
            return trie->ranges[mxu_number_of(entry)].previous;
        }
        return mxu_number_of(entry);
    }
    if (below != MXU_NONE) {
        return highest_of(trie, below);
    }
    return before_root(trie, address / MXU_ROOT_SPAN);
}

enum mxu_status mxu_trie_insert(struct mxu_trie *trie, uint32_t first, uint32_t last, int16_t *number)
{
    int16_t previous;
    enum mxu_status status;

    if (first > last || first % MXU_GRANULE != 0 || last % MXU_GRANULE != MXU_GRANULE - 1u) {
        return MXU_EINVAL;
    }
    previous = mxu_trie_at_or_before(trie, first);
    status = mxu_list_insert(trie, first, last, previous, number);
    if (status == MXU_OK && !mxu_paths_insert(trie, *number)) {
        mxu_list_remove(trie, *number);
        status = MXU_ENOMEM;
    }
    return status;
}

void mxu_trie_remove(struct mxu_trie *trie, int16_t number)
{
    mxu_paths_remove(trie, number);
    mxu_list_remove(trie, number);
}

enum mxu_status mxu_trie_split(struct mxu_trie *trie, int16_t number, uint32_t at, int16_t *upper)
{
    struct mxu_range *range = &trie->ranges[number];
    uint32_t last = range->last;
    enum mxu_status status;

    if (at % MXU_GRANULE != 0 || at <= range->first || at > last) {
        return MXU_EINVAL;
    }
    mxu_paths_remove(trie, number);
    range->last = at - 1u;
    status = mxu_list_insert(trie, at, last, number, upper);
    if (status == MXU_OK) {
        trie->ranges[*upper].word[0] = range->word[0];
        trie->ranges[*upper].word[1] = range->word[1];
        trie->ranges[*upper].flags = range->flags;
        trie->ranges[*upper].allocation = range->allocation;
        if (mxu_paths_insert(trie, number)) {
            if (mxu_paths_insert(trie, *upper)) {
                return MXU_OK;
            }
            mxu_paths_remove(trie, number);
        }
        mxu_list_remove(trie, *upper);
        status = MXU_ENOMEM;
    }
    range->last = last;
    (void)mxu_paths_insert(trie, number); /* the nodes that it had are free */
    return status;
}

enum mxu_status mxu_trie_place(struct mxu_trie *trie, int16_t number, enum mxu_placement at_least)
{
    const struct mxu_range *range = &trie->ranges[number];

    return mxu_paths_place(trie, range->first, at_least) && mxu_paths_place(trie, range->last, at_least)
               ? MXU_OK
               : MXU_ENOMEM;
}

/* The weakest placement on the way to an address of a range. */
static uint32_t weakest(const struct mxu_trie *trie, uint32_t address)
{
    uint32_t placement = MXU_PLACE_LOCKED;

    /* bound: MXU_TRIE_LEVELS */
    for (int16_t entry = trie->root[address / MXU_ROOT_SPAN]; entry >= 0;) {
        const struct mxu_node *node = &trie->nodes[entry];

        placement = node->placement < placement ? node->placement : placement;
        entry = node->entry[mxu_node_index(node, address)];
    }
    return placement;
}

enum mxu_placement mxu_trie_placement(const struct mxu_trie *trie, int16_t number)
{
    uint32_t of_first = weakest(trie, trie->ranges[number].first);
    uint32_t of_last = weakest(trie, trie->ranges[number].last);

    return (enum mxu_placement)(of_first < of_last ? of_first : of_last);
}

uint32_t mxu_trie_steps(const struct mxu_trie *trie, uint32_t address)
{
    uint32_t steps = 0;

    for (int16_t entry = trie->root[address / MXU_ROOT_SPAN]; entry >= 0; steps++) {
        const struct mxu_node *node = &trie->nodes[entry];

        entry = node->entry[mxu_node_index(node, address)];
    }
    return steps;
}
