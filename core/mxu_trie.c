/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The ranges of a trie and their order; core/mxu_paths.c maintains the nodes. Ranges are disjoint because
 * each one is inserted in the list between two neighbors that leave room for it, independently of the nodes.
 */
#include "core/mxu_trie.h"
#include "core/mxu_parts.h"

/* Sets the kind of memory of the nodes [first, end). */
/*@ requires \valid(trie) && mxu_has_arrays(trie) && mxu_is_apart(trie) && 0 <= placement < MXU_PLACEMENTS;
    assigns trie->nodes[0 .. trie->node_count - 1];
    ensures list: mxu_same_list{Pre, Post}(trie);
    ensures placed: \forall integer n; 0 <= n < trie->node_count &&
        (first <= n < end || \old(trie->nodes[n].placement) < MXU_PLACEMENTS) ==>
        trie->nodes[n].placement < MXU_PLACEMENTS; */
static void place_nodes(struct mxu_trie *trie, uint32_t first, uint32_t end, enum mxu_placement placement)
{
    /*@ loop invariant first <= i && mxu_same_list{Pre, Here}(trie);
        loop invariant \forall integer n; 0 <= n < trie->node_count &&
            (first <= n < i || \at(trie->nodes[n].placement, Pre) < MXU_PLACEMENTS) ==>
            trie->nodes[n].placement < MXU_PLACEMENTS;
        loop assigns i, trie->nodes[0 .. trie->node_count - 1];
        loop variant trie->node_count - i; */
    for (uint32_t i = first; i < end && i < trie->node_count; i++) {
        trie->nodes[i].placement = (uint8_t)placement;
        /*@ assert same: mxu_same_list{Pre, Here}(trie); */
    }
}

void mxu_trie_init(struct mxu_trie *trie, struct mxu_node *nodes, uint16_t node_count,
                   struct mxu_range *ranges, uint16_t range_count, enum mxu_placement placement)
{
    trie->nodes = nodes;
    trie->node_count = node_count;
    trie->ranges = ranges;
    trie->range_count = range_count;
    mxu_list_init(trie);
    place_nodes(trie, 0, node_count, placement);
    mxu_renew_nodes(trie);
}

void mxu_trie_give(struct mxu_trie *trie, uint16_t first, uint16_t count, enum mxu_placement placement)
{
    place_nodes(trie, first, (uint32_t)first + count, placement);
    mxu_renew_nodes(trie);
}

/* The range at the highest addresses below an entry. */
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

/* The last range that begins before the span of a root entry. */
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
    int16_t below = MXU_NONE; /* the nearest entry at lower addresses in the nodes passed so far */
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
        /* The entry holds only this range. If it begins beyond the address, the range before it is the last
         * that does not. */
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
    int16_t taken;

    if (first > last || first % MXU_GRANULE != 0 || last % MXU_GRANULE != MXU_GRANULE - 1u) {
        return MXU_EINVAL;
    }
    previous = mxu_trie_at_or_before(trie, first);
    if (!mxu_list_has_place(trie, first, last, previous)) {
        return MXU_EEXIST;
    }
    taken = mxu_enter_list(trie, first, last, previous);
    if (taken == MXU_NONE) {
        return MXU_ENOMEM;
    }
    if (!mxu_enter_nodes(trie, taken)) {
        mxu_leave_list(trie, taken);
        return MXU_ENOMEM;
    }
    mxu_tell_number(trie, taken, number);
    return MXU_OK;
}

void mxu_trie_remove(struct mxu_trie *trie, int16_t number)
{
    mxu_leave_nodes(trie, number);
    mxu_leave_list(trie, number);
}

/* Inserts both ranges, or none. */
/*@ requires mxu_is_whole(trie) && mxu_used(trie, lower) && mxu_used(trie, upper);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures whole: mxu_is_whole(trie);
    ensures list: mxu_same_list{Pre, Post}(trie); */
static bool enter_both(struct mxu_trie *trie, int16_t lower, int16_t upper)
{
    if (!mxu_enter_nodes(trie, lower)) {
        return false;
    }
    if (mxu_enter_nodes(trie, upper)) {
        return true;
    }
    mxu_leave_nodes(trie, lower);
    return false;
}

enum mxu_status mxu_trie_split(struct mxu_trie *trie, int16_t number, uint32_t at, int16_t *upper)
{
    int16_t taken;

    if (at % MXU_GRANULE != 0 || at <= trie->ranges[number].first || at > trie->ranges[number].last) {
        return MXU_EINVAL;
    }
    mxu_leave_nodes(trie, number);
    /*@ assert apart: mxu_number_is_apart(trie, upper); */
    taken = mxu_split_in_list(trie, number, at);
    /*@ assert arrays: mxu_same_arrays{Pre, Here}(trie); */
    /*@ assert still_apart: mxu_number_is_apart(trie, upper); */
    if (taken != MXU_NONE) {
        if (enter_both(trie, number, taken)) {
            /*@ assert both: mxu_used(trie, number) && mxu_used(trie, taken) && taken != number &&
                trie->ranges[number].last == at - 1 && trie->ranges[taken].first == at; */
            /*@ assert ever_apart: mxu_number_is_apart(trie, upper) && mxu_same_arrays{Pre, Here}(trie); */
            mxu_tell_number(trie, taken, upper);
            /*@ assert used: mxu_used(trie, number) && mxu_used(trie, taken); */
            return MXU_OK;
        }
        /*@ assert none: mxu_same_arrays{Pre, Here}(trie) && mxu_used(trie, number); */
        /*@ assert upper: mxu_used(trie, taken) && trie->ranges[taken].first == at; */
        /*@ assert lower: trie->ranges[number].last == at - 1; */
        /*@ assert next: trie->ranges[number].next == taken; */
        mxu_join_in_list(trie, number);
    }
    /*@ assert as_before: mxu_same_arrays{Pre, Here}(trie) && mxu_used(trie, number); */
    (void)mxu_enter_nodes(trie,
                          number); /* cannot fail: removing the range has freed the nodes that it needs */
    /*@ assert whole_again: mxu_used(trie, number); */
    return MXU_ENOMEM;
}

enum mxu_status mxu_trie_place(struct mxu_trie *trie, int16_t number, enum mxu_placement at_least)
{
    const struct mxu_range *range = &trie->ranges[number];

    return mxu_move_nodes(trie, range->first, at_least) && mxu_move_nodes(trie, range->last, at_least)
               ? MXU_OK
               : MXU_ENOMEM;
}

/* The weakest placement of all nodes on the way to an address of a range. */
/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie);
    assigns \nothing; */
static uint32_t weakest(const struct mxu_trie *trie, uint32_t address)
{
    uint32_t placement = MXU_PLACE_LOCKED;

    /* bound: MXU_TRIE_LEVELS */
    /*@ loop invariant mxu_is_entry(trie, entry);
        loop assigns entry, placement; */
    for (int16_t entry = trie->root[address / MXU_ROOT_SPAN]; entry >= 0;) {
        const struct mxu_node *node = &trie->nodes[entry];

        /*@ assert mxu_is_shift(node->shift); */
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

    /*@ loop invariant mxu_is_entry(trie, entry);
        loop assigns entry, steps; */
    for (int16_t entry = trie->root[address / MXU_ROOT_SPAN]; entry >= 0; steps++) {
        const struct mxu_node *node = &trie->nodes[entry];

        /*@ assert mxu_is_shift(node->shift); */
        entry = node->entry[mxu_node_index(node, address)];
    }
    return steps;
}
