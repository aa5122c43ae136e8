/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Insertion goes down from the root along the range's first and last address, and makes a node where the
 * range meets another one in the same entry. Between these two paths a range fills entries whole, which hold
 * nothing else. Removal goes down the same paths, and dissolves nodes on its way back up that do not branch
 * any more.
 */
#include "core/mxu_paths.h"

/* An entry and the span that it stands for. */
struct place {
    int16_t *slot;
    uint32_t first;
    uint32_t last;
};

/* Addresses that something has of a span. */
struct extent {
    uint32_t first;
    uint32_t last;
};

static struct extent clipped(const struct mxu_range *range, const struct place *place)
{
    return (struct extent){range->first > place->first ? range->first : place->first,
                           range->last < place->last ? range->last : place->last};
}

/* The shift of the node whose span is the smallest that has both addresses, first < last. */
static uint8_t common_shift(uint32_t first, uint32_t last)
{
    uint32_t shift = MXU_GRANULE_BITS;

    /* bound: MXU_TRIE_LEVELS - 1 */
    while (shift < MXU_TRIE_TOP && first >> (shift + MXU_TRIE_STRIDE) != last >> (shift + MXU_TRIE_STRIDE)) {
        shift += MXU_TRIE_STRIDE;
    }
    return (uint8_t)shift;
}

static void put_free(struct mxu_trie *trie, int16_t number)
{
    struct mxu_node *node = &trie->nodes[number];

    node->next_free = trie->free_nodes[node->placement];
    trie->free_nodes[node->placement] = number;
}

void mxu_paths_init(struct mxu_trie *trie)
{
    for (uint32_t placement = 0; placement < MXU_PLACEMENTS; placement++) {
        trie->free_nodes[placement] = MXU_NONE;
    }
    for (uint32_t number = trie->node_count; number-- > 0;) {
        put_free(trie, (int16_t)number);
    }
    for (uint32_t i = 0; i < MXU_ROOT_ENTRIES; i++) {
        trie->root[i] = MXU_NONE;
    }
    trie->used_nodes = 0;
}

/* A free node of one placement, or MXU_NONE. */
static int16_t take_from(struct mxu_trie *trie, uint32_t placement)
{
    int16_t number = trie->free_nodes[placement];

    if (number != MXU_NONE) {
        trie->free_nodes[placement] = trie->nodes[number].next_free;
        trie->used_nodes++;
    }
    return number;
}

static void release(struct mxu_trie *trie, int16_t number)
{
    put_free(trie, number);
    trie->used_nodes--;
}

/* A node for the smallest span that has both addresses, of the strongest placement that is left, or MXU_NONE.
 */
static int16_t new_node(struct mxu_trie *trie, uint32_t first, uint32_t last)
{
    int16_t number = MXU_NONE;
    struct mxu_node *node;

    for (uint32_t placement = MXU_PLACEMENTS; placement-- > 0 && number == MXU_NONE;) {
        number = take_from(trie, placement);
    }
    if (number == MXU_NONE) {
        return MXU_NONE;
    }
    node = &trie->nodes[number];
    node->shift = common_shift(first, last);
    node->base = first & ~((UINT32_C(1) << (node->shift + MXU_TRIE_STRIDE)) - 1u);
    for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
        node->entry[i] = MXU_NONE;
    }
    return number;
}

/* Makes the entry of a place, in which something else than `part` is, a node whose span has both. False if no
 * node is left. Nothing to do if it is such a node. */
static bool make_node(struct mxu_trie *trie, const struct place *place, struct extent part)
{
    int16_t old = *place->slot;
    struct extent content;
    int16_t number;
    struct mxu_node *node;

    if (old >= 0) {
        content = (struct extent){trie->nodes[old].base, mxu_node_last(&trie->nodes[old])};
        if (content.first <= part.first && part.last <= content.last) {
            return true;
        }
    } else {
        content = clipped(&trie->ranges[mxu_number_of(old)], place);
    }
    number = new_node(trie, content.first < part.first ? content.first : part.first,
                      content.last > part.last ? content.last : part.last);
    if (number == MXU_NONE) {
        return false;
    }
    node = &trie->nodes[number];
    for (uint32_t i = mxu_node_index(node, content.first); i <= mxu_node_index(node, content.last); i++) {
        node->entry[i] = old;
    }
    *place->slot = number;
    return true;
}

/* Enters a range in a node, and returns how many of its entries, 0 to 2, have something else as well: these
 * are in `below`. */
static uint32_t fill(struct mxu_node *node, struct extent part, int16_t entry, struct place below[2])
{
    uint32_t span_mask = (UINT32_C(1) << node->shift) - 1u;
    uint32_t from = mxu_node_index(node, part.first);
    uint32_t to = mxu_node_index(node, part.last);
    uint32_t shared = 0;

    for (uint32_t i = from; i <= to; i++) {
        if (node->entry[i] == MXU_NONE) {
            node->entry[i] = entry;
        } else if (i == from) {
            below[shared++] =
                (struct place){&node->entry[i], part.first & ~span_mask, part.first | span_mask};
        } else if (i == to) {
            below[shared++] = (struct place){&node->entry[i], part.last & ~span_mask, part.last | span_mask};
        }
    }
    return shared;
}

/* Follows one path down from `place` until the range has all that it shares with others there. Where it
 * forks, *fork is the other one. */
static bool insert_from(struct mxu_trie *trie, int16_t number, struct place place, struct place *fork)
{
    const struct mxu_range *range = &trie->ranges[number];

    /* Spans get smaller: the last level's entries have one granule, which ranges do not share. */
    for (uint32_t level = 0; level <= MXU_TRIE_LEVELS; level++) {
        struct extent part = clipped(range, &place);
        struct place below[2];
        uint32_t shared;

        if (*place.slot == MXU_NONE) {
            *place.slot = mxu_entry_of(number);
            return true;
        }
        if (!make_node(trie, &place, part)) {
            return false;
        }
        shared = fill(&trie->nodes[*place.slot], part, mxu_entry_of(number), below);
        if (shared == 0) {
            return true;
        }
        if (shared == 2) {
            *fork = below[1];
        }
        place = below[0];
    }
    return false; /* not reached */
}

/* What the root has for a span. */
static struct place root_place(struct mxu_trie *trie, uint32_t address)
{
    uint32_t mask = (UINT32_C(1) << MXU_ROOT_SHIFT) - 1u;

    return (struct place){&trie->root[address >> MXU_ROOT_SHIFT], address & ~mask, address | mask};
}

bool mxu_paths_insert(struct mxu_trie *trie, int16_t number)
{
    const struct mxu_range *range = &trie->ranges[number];
    uint32_t from = range->first >> MXU_ROOT_SHIFT;
    uint32_t to = range->last >> MXU_ROOT_SHIFT;
    struct place fork = {0};
    struct place none = {0};
    bool done = insert_from(trie, number, root_place(trie, range->first), &fork);

    /* bound: MXU_ROOT_ENTRIES; spans that the range has whole */
    for (uint32_t i = from + 1u; i < to; i++) {
        trie->root[i] = mxu_entry_of(number);
    }
    if (done && from != to) {
        fork = root_place(trie, range->last);
    }
    /* A path that has one end of the range does not fork. */
    if (done && fork.slot != 0) {
        done = insert_from(trie, number, fork, &none);
    }
    if (!done) {
        mxu_paths_remove(trie, number);
    }
    return done;
}

/* The entries of a node become one if they are the same, or none. */
static void dissolve(struct mxu_trie *trie, int16_t *slot)
{
    const struct mxu_node *node = &trie->nodes[*slot];
    int16_t only = MXU_NONE;

    for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
        if (node->entry[i] != MXU_NONE) {
            if (only != MXU_NONE && only != node->entry[i]) {
                return;
            }
            only = node->entry[i];
        }
    }
    release(trie, *slot);
    *slot = only;
}

/* Takes a range out of the nodes on the way to an address. */
static void remove_along(struct mxu_trie *trie, int16_t number, uint32_t address)
{
    int16_t *path[MXU_TRIE_LEVELS];
    int16_t *slot = &trie->root[address >> MXU_ROOT_SHIFT];
    uint32_t depth = 0;

    while (*slot >= 0 && depth < MXU_TRIE_LEVELS) {
        struct mxu_node *node = &trie->nodes[*slot];

        for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
            if (node->entry[i] == mxu_entry_of(number)) {
                node->entry[i] = MXU_NONE;
            }
        }
        path[depth++] = slot;
        slot = &node->entry[mxu_node_index(node, address)];
    }
    while (depth > 0) {
        dissolve(trie, path[--depth]);
    }
}

void mxu_paths_remove(struct mxu_trie *trie, int16_t number)
{
    const struct mxu_range *range = &trie->ranges[number];

    /* bound: MXU_ROOT_ENTRIES */
    for (uint32_t i = range->first >> MXU_ROOT_SHIFT; i <= range->last >> MXU_ROOT_SHIFT; i++) {
        if (trie->root[i] == mxu_entry_of(number)) {
            trie->root[i] = MXU_NONE;
        }
    }
    remove_along(trie, number, range->first);
    remove_along(trie, number, range->last);
}

bool mxu_paths_place(struct mxu_trie *trie, uint32_t address, enum mxu_placement at_least)
{
    int16_t *slot = &trie->root[address >> MXU_ROOT_SHIFT];

    /* bound: MXU_TRIE_LEVELS */
    while (*slot >= 0) {
        struct mxu_node *node = &trie->nodes[*slot];

        if (node->placement < (uint32_t)at_least) {
            int16_t better = MXU_NONE;

            for (uint32_t place = (uint32_t)at_least; place < MXU_PLACEMENTS && better == MXU_NONE; place++) {
                better = take_from(trie, place);
            }
            if (better == MXU_NONE) {
                return false;
            }
            for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
                trie->nodes[better].entry[i] = node->entry[i];
            }
            trie->nodes[better].base = node->base;
            trie->nodes[better].shift = node->shift;
            release(trie, *slot);
            *slot = better;
            node = &trie->nodes[better];
        }
        slot = &node->entry[mxu_node_index(node, address)];
    }
    return true;
}
