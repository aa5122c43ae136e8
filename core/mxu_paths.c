/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Insertion descends from the root along the range's first and last address, and creates a node where the
 * range and another range share an entry. Between these two paths the range fills whole entries, which
 * contain nothing else. Removal descends along the same paths, and on the way back up it dissolves nodes that
 * no longer branch.
 *
 * An entry is identified by its node (MXU_NONE for the root) and an address in its span. Only numbers are
 * kept, so that each function can be proved to stay inside the arrays (docs/design/proofs.md).
 */
#include "core/mxu_paths.h"

/* Addresses of a range, or addresses that an entry covers. */
struct extent {
    uint32_t first;
    uint32_t last;
};

/* An entry and its span. */
struct place {
    int16_t node;
    struct extent span;
};

/*@ // What the functions below need of a trie, and keep.
    predicate is_sound{L}(struct mxu_trie *t) =
        \valid(t) && mxu_has_arrays(t) && mxu_is_apart(t) && mxu_nodes_in_bounds(t); */

/*@ assigns \nothing; */
static struct extent intersection(struct extent a, struct extent b)
{
    return (struct extent){a.first > b.first ? a.first : b.first, a.last < b.last ? a.last : b.last};
}

/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && 0 <= number < trie->range_count;
    assigns \nothing; */
static struct extent extent_of(const struct mxu_trie *trie, int16_t number)
{
    return (struct extent){trie->ranges[number].first, trie->ranges[number].last};
}

/*@ requires \valid_read(trie) && mxu_has_arrays(trie) && mxu_nodes_in_bounds(trie);
    requires mxu_is_node_or_none(trie, node);
    assigns \nothing;
    ensures mxu_is_entry(trie, \result); */
static int16_t entry_at(const struct mxu_trie *trie, int16_t node, uint32_t address)
{
    if (node == MXU_NONE) {
        return trie->root[address / MXU_ROOT_SPAN];
    }
    /*@ assert mxu_is_shift(trie->nodes[node].shift); */
    return trie->nodes[node].entry[mxu_node_index(&trie->nodes[node], address)];
}

/*@ requires is_sound(trie) && mxu_is_entry(trie, entry) && mxu_is_node_or_none(trie, node);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie); */
static void set_entry(struct mxu_trie *trie, int16_t node, uint32_t address, int16_t entry)
{
    if (node == MXU_NONE) {
        trie->root[address / MXU_ROOT_SPAN] = entry;
    } else {
        /*@ assert mxu_is_shift(trie->nodes[node].shift); */
        trie->nodes[node].entry[mxu_node_index(&trie->nodes[node], address)] = entry;
    }
}

/* The shift of the node with the smallest span that includes both addresses; first < last. */
/*@ assigns \nothing;
    ensures mxu_is_shift(\result); */
static uint8_t common_shift(uint32_t first, uint32_t last)
{
    uint32_t shift = MXU_GRANULE_BITS;

    /* bound: MXU_TRIE_LEVELS - 1 */
    /*@ loop invariant mxu_is_shift(shift);
        loop assigns shift;
        loop variant MXU_TRIE_TOP - shift; */
    while (shift < MXU_TRIE_TOP && first >> (shift + MXU_TRIE_STRIDE) != last >> (shift + MXU_TRIE_STRIDE)) {
        shift += MXU_TRIE_STRIDE;
    }
    return (uint8_t)shift;
}

/* Empties all entries of a node. */
/*@ requires is_sound(trie) && 0 <= number < trie->node_count;
    assigns trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
    ensures mxu_nodes_in_bounds(trie);
    ensures \forall integer i; 0 <= i < MXU_TRIE_ENTRIES ==> trie->nodes[number].entry[i] == MXU_NONE; */
static void clear(struct mxu_trie *trie, int16_t number)
{
    /*@ loop invariant 0 <= i <= MXU_TRIE_ENTRIES && mxu_entries_in_bounds(trie);
        loop invariant \forall integer j; 0 <= j < i ==> trie->nodes[number].entry[j] == MXU_NONE;
        loop assigns i, trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
        loop variant MXU_TRIE_ENTRIES - i; */
    for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
        trie->nodes[number].entry[i] = MXU_NONE;
    }
}

/* Puts a node on the free list of its placement. */
/*@ requires is_sound(trie) && 0 <= number < trie->node_count;
    assigns trie->nodes[number].next_free, trie->free_nodes[0 .. MXU_PLACEMENTS - 1];
    ensures mxu_nodes_in_bounds(trie); */
static void put_free(struct mxu_trie *trie, int16_t number)
{
    uint8_t placement = trie->nodes[number].placement;

    /*@ assert placement < MXU_PLACEMENTS; */
    trie->nodes[number].next_free = trie->free_nodes[placement];
    trie->free_nodes[placement] = number;
}

void mxu_paths_init(struct mxu_trie *trie)
{
    trie->used_nodes = 0;
    /*@ loop invariant 0 <= i <= MXU_ROOT_ENTRIES;
        loop invariant \forall integer j; 0 <= j < i ==> trie->root[j] == MXU_NONE;
        loop assigns i, trie->root[0 .. MXU_ROOT_ENTRIES - 1];
        loop variant MXU_ROOT_ENTRIES - i; */
    for (uint32_t i = 0; i < MXU_ROOT_ENTRIES; i++) {
        trie->root[i] = MXU_NONE;
    }
    /*@ loop invariant 0 <= placement <= MXU_PLACEMENTS;
        loop invariant \forall integer p; 0 <= p < placement ==> trie->free_nodes[p] == MXU_NONE;
        loop assigns placement, trie->free_nodes[0 .. MXU_PLACEMENTS - 1];
        loop variant MXU_PLACEMENTS - placement; */
    for (uint32_t placement = 0; placement < MXU_PLACEMENTS; placement++) {
        trie->free_nodes[placement] = MXU_NONE;
    }
    /*@ loop invariant 0 <= number <= trie->node_count;
        loop invariant \forall integer n, integer i; 0 <= n < number && 0 <= i < MXU_TRIE_ENTRIES ==>
            trie->nodes[n].entry[i] == MXU_NONE;
        loop invariant \forall integer n; 0 <= n < number ==>
            trie->nodes[n].shift == MXU_GRANULE_BITS && trie->nodes[n].next_free == MXU_NONE;
        loop invariant \forall integer n; 0 <= n < trie->node_count ==>
            trie->nodes[n].placement < MXU_PLACEMENTS;
        loop assigns number, trie->nodes[0 .. trie->node_count - 1];
        loop variant trie->node_count - number; */
    for (uint32_t number = 0; number < trie->node_count; number++) {
        struct mxu_node *node = &trie->nodes[number];

        node->base = 0;
        node->shift = MXU_GRANULE_BITS;
        node->next_free = MXU_NONE;
        /*@ loop invariant 0 <= i <= MXU_TRIE_ENTRIES;
            loop invariant \forall integer j; 0 <= j < i ==> trie->nodes[number].entry[j] == MXU_NONE;
            loop assigns i, trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
            loop variant MXU_TRIE_ENTRIES - i; */
        for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
            node->entry[i] = MXU_NONE;
        }
    }
    /*@ loop invariant 0 <= number <= trie->node_count && mxu_nodes_in_bounds(trie);
        loop invariant \forall integer n, integer i; 0 <= n < trie->node_count &&
            0 <= i < MXU_TRIE_ENTRIES ==> trie->nodes[n].entry[i] == MXU_NONE;
        loop assigns number, trie->nodes[0 .. trie->node_count - 1],
            trie->free_nodes[0 .. MXU_PLACEMENTS - 1];
        loop variant number; */
    for (uint32_t number = trie->node_count; number > 0; number--) {
        put_free(trie, (int16_t)(number - 1u));
    }
}

/* A free node of one placement, or MXU_NONE. */
/*@ requires is_sound(trie) && 0 <= placement < MXU_PLACEMENTS;
    assigns trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes;
    ensures mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, \result); */
static int16_t take_from(struct mxu_trie *trie, uint32_t placement)
{
    int16_t number = trie->free_nodes[placement];

    if (number != MXU_NONE) {
        trie->free_nodes[placement] = trie->nodes[number].next_free;
        trie->used_nodes++;
    }
    return number;
}

/* Frees a node and empties it: all that its entries referred to may become a different node. */
/*@ requires is_sound(trie) && 0 <= number < trie->node_count;
    assigns trie->nodes[number], trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes;
    ensures mxu_nodes_in_bounds(trie); */
static void release(struct mxu_trie *trie, int16_t number)
{
    clear(trie, number);
    put_free(trie, number);
    trie->used_nodes--;
}

/* Allocates an empty node for the smallest span that includes both addresses, of the strongest placement that
 * is available. MXU_NONE if there is none. */
/*@ requires is_sound(trie);
    assigns trie->nodes[0 .. trie->node_count - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes;
    ensures mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, \result); */
static int16_t new_node(struct mxu_trie *trie, struct extent content)
{
    int16_t number = MXU_NONE;
    struct mxu_node *node;

    /*@ loop invariant 0 <= placement <= MXU_PLACEMENTS;
        loop invariant mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, number);
        loop assigns placement, number, trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes;
        loop variant placement; */
    for (uint32_t placement = MXU_PLACEMENTS; placement > 0 && number == MXU_NONE; placement--) {
        number = take_from(trie, placement - 1u);
    }
    if (number == MXU_NONE) {
        return MXU_NONE;
    }
    node = &trie->nodes[number];
    node->shift = common_shift(content.first, content.last);
    node->base = content.first & ~((UINT32_C(1) << (node->shift + MXU_TRIE_STRIDE)) - 1u);
    return number;
}

/* The node below a place that holds both `part` and the existing entry `old`: `old` itself if its span
 * includes both, else a new node that is entered at the place. MXU_NONE if no node is left. */
/*@ requires is_sound(trie) && mxu_is_node_or_none(trie, place.node);
    requires mxu_is_entry(trie, old) && old != MXU_NONE;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, \result); */
static int16_t node_with_both(struct mxu_trie *trie, struct place place, int16_t old, struct extent part)
{
    struct extent content;
    struct extent both;
    int16_t number;
    struct mxu_node *node;
    uint32_t to;

    if (old >= 0) {
        /*@ assert mxu_is_shift(trie->nodes[old].shift); */
        content = (struct extent){trie->nodes[old].base, mxu_node_last(&trie->nodes[old])};
        if (content.first <= part.first && part.last <= content.last) {
            return old;
        }
    } else {
        content = intersection(extent_of(trie, mxu_number_of(old)), place.span);
    }
    both.first = content.first < part.first ? content.first : part.first;
    both.last = content.last > part.last ? content.last : part.last;
    number = new_node(trie, both);
    if (number == MXU_NONE) {
        return MXU_NONE;
    }
    node = &trie->nodes[number];
    /*@ assert mxu_is_shift(trie->nodes[number].shift); */
    to = mxu_node_index(node, content.last);
    /*@ loop invariant mxu_nodes_in_bounds(trie);
        loop assigns i, trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
        loop variant MXU_TRIE_ENTRIES - i; */
    for (uint32_t i = mxu_node_index(node, content.first); i <= to; i++) {
        node->entry[i] = old;
    }
    set_entry(trie, place.node, place.span.first, number);
    return number;
}

/* Entries of a node that hold something else as well. */
#define SHARED_FIRST 1u
#define SHARED_LAST  2u

/* Enters a range in a node. Returns SHARED_FIRST and SHARED_LAST if the entry of the part's first or last
 * address also holds something else; SHARED_FIRST if both addresses have the same entry. */
/*@ requires is_sound(trie) && 0 <= number < trie->node_count && mxu_is_entry(trie, entry);
    assigns trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
    ensures mxu_nodes_in_bounds(trie); */
static uint32_t fill(struct mxu_trie *trie, int16_t number, struct extent part, int16_t entry)
{
    struct mxu_node *node = &trie->nodes[number];
    uint32_t from;
    uint32_t to;
    uint32_t shared = 0;

    /*@ assert mxu_is_shift(trie->nodes[number].shift); */
    from = mxu_node_index(node, part.first);
    to = mxu_node_index(node, part.last);
    /*@ loop invariant mxu_nodes_in_bounds(trie);
        loop assigns i, shared, trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
        loop variant MXU_TRIE_ENTRIES - i; */
    for (uint32_t i = from; i <= to; i++) {
        if (node->entry[i] == MXU_NONE) {
            node->entry[i] = entry;
        } else if (i == from) {
            shared |= SHARED_FIRST;
        } else if (i == to) {
            shared |= SHARED_LAST;
        }
    }
    return shared;
}

/* The entry of a node that covers an address. */
/*@ requires is_sound(trie) && 0 <= number < trie->node_count;
    assigns \nothing;
    ensures \result.node == number; */
static struct place place_in(const struct mxu_trie *trie, int16_t number, uint32_t address)
{
    uint32_t mask;

    /*@ assert mxu_is_shift(trie->nodes[number].shift); */
    mask = (UINT32_C(1) << trie->nodes[number].shift) - 1u;
    return (struct place){number, {address & ~mask, address | mask}};
}

/*@ assigns \nothing;
    ensures \result.node == MXU_NONE; */
static struct place place_in_root(uint32_t address)
{
    uint32_t mask = (UINT32_C(1) << MXU_ROOT_SHIFT) - 1u;

    return (struct place){MXU_NONE, {address & ~mask, address | mask}};
}

/* Result of a descent: whether the range has all entries that it shares with others on this path, and where
 * its other path branches off. */
struct descent {
    bool done;
    struct place fork; /* first > last: no branch */
};

/* Descends one path from `place` until the range has all entries that it shares with others there. Not done
 * if too few nodes are left. */
/*@ requires is_sound(trie) && mxu_used(trie, number) && mxu_is_node_or_none(trie, place.node);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, \result.fork.node); */
static struct descent insert_from(struct mxu_trie *trie, int16_t number, struct place place)
{
    struct place fork = {MXU_NONE, {1, 0}};

    /* Spans get smaller on the way down: an entry of the last level covers one granule, and ranges never
     * share a granule. */
    /*@ loop invariant 0 <= level <= MXU_TRIE_LEVELS + 1 && mxu_nodes_in_bounds(trie);
        loop invariant mxu_is_node_or_none(trie, place.node) && mxu_is_node_or_none(trie, fork.node);
        loop assigns level, place, fork, trie->root[0 .. MXU_ROOT_ENTRIES - 1],
            trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes,
            trie->nodes[0 .. trie->node_count - 1];
        loop variant MXU_TRIE_LEVELS + 1 - level; */
    for (uint32_t level = 0; level <= MXU_TRIE_LEVELS; level++) {
        struct extent part = intersection(extent_of(trie, number), place.span);
        int16_t old = entry_at(trie, place.node, place.span.first);
        int16_t node;
        uint32_t shared;

        if (old == MXU_NONE) {
            set_entry(trie, place.node, place.span.first, mxu_entry_of(number));
            return (struct descent){true, fork};
        }
        node = node_with_both(trie, place, old, part);
        if (node == MXU_NONE) {
            break;
        }
        shared = fill(trie, node, part, mxu_entry_of(number));
        if (shared == 0) {
            return (struct descent){true, fork};
        }
        if (shared == (SHARED_FIRST | SHARED_LAST)) {
            fork = place_in(trie, node, part.last);
        }
        place = place_in(trie, node, (shared & SHARED_FIRST) != 0 ? part.first : part.last);
    }
    return (struct descent){false, fork};
}

bool mxu_paths_insert(struct mxu_trie *trie, int16_t number)
{
    struct extent all = extent_of(trie, number);
    uint32_t from = all.first / MXU_ROOT_SPAN;
    uint32_t to = all.last / MXU_ROOT_SPAN;
    struct descent descent = insert_from(trie, number, place_in_root(all.first));

    /* bound: MXU_ROOT_ENTRIES; entries whose span the range fills */
    /*@ loop invariant from + 1 <= i && mxu_nodes_in_bounds(trie);
        loop assigns i, trie->root[0 .. MXU_ROOT_ENTRIES - 1];
        loop variant MXU_ROOT_ENTRIES - i; */
    for (uint32_t i = from + 1u; i < to; i++) {
        trie->root[i] = mxu_entry_of(number);
    }
    if (descent.done && from != to) {
        descent.fork = place_in_root(all.last);
    }
    /* A path to one end of the range has no further branch. */
    if (descent.done && descent.fork.span.first < descent.fork.span.last) {
        descent = insert_from(trie, number, descent.fork);
    }
    if (!descent.done) {
        mxu_paths_remove(trie, number);
    }
    return descent.done;
}

/* Removes a node whose entries are all the same or empty. The entry of `above` that covers the address gets
 * the contents of the node. */
/*@ requires is_sound(trie) && mxu_is_node_or_none(trie, above) && 0 <= number < trie->node_count;
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie); */
static void dissolve(struct mxu_trie *trie, int16_t number, int16_t above, uint32_t address)
{
    const struct mxu_node *node = &trie->nodes[number];
    int16_t only = MXU_NONE;

    /*@ loop invariant 0 <= i <= MXU_TRIE_ENTRIES && mxu_is_entry(trie, only);
        loop assigns i, only;
        loop variant MXU_TRIE_ENTRIES - i; */
    for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
        if (node->entry[i] != MXU_NONE) {
            if (only != MXU_NONE && only != node->entry[i]) {
                return;
            }
            only = node->entry[i];
        }
    }
    release(trie, number);
    set_entry(trie, above, address, only);
}

/* Removes an entry from a node, at all positions. */
/*@ requires is_sound(trie) && 0 <= number < trie->node_count;
    assigns trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
    ensures mxu_nodes_in_bounds(trie); */
static void take_out(struct mxu_trie *trie, int16_t number, int16_t entry)
{
    struct mxu_node *node = &trie->nodes[number];

    /*@ loop invariant 0 <= i <= MXU_TRIE_ENTRIES && mxu_nodes_in_bounds(trie);
        loop assigns i, trie->nodes[number].entry[0 .. MXU_TRIE_ENTRIES - 1];
        loop variant MXU_TRIE_ENTRIES - i; */
    for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
        if (node->entry[i] == entry) {
            node->entry[i] = MXU_NONE;
        }
    }
}

/* Removes a range from the nodes on the way to an address. */
/*@ requires is_sound(trie) && mxu_used(trie, number);
    assigns trie->root[0 .. MXU_ROOT_ENTRIES - 1], trie->free_nodes[0 .. MXU_PLACEMENTS - 1],
        trie->used_nodes, trie->nodes[0 .. trie->node_count - 1];
    ensures mxu_nodes_in_bounds(trie); */
static void remove_along(struct mxu_trie *trie, int16_t number, uint32_t address)
{
    int16_t path[MXU_TRIE_LEVELS]; /* nodes */
    int16_t entry = entry_at(trie, MXU_NONE, address);
    uint32_t depth = 0;

    /*@ loop invariant mxu_nodes_in_bounds(trie) && mxu_is_entry(trie, entry);
        loop invariant 0 <= depth <= MXU_TRIE_LEVELS;
        loop invariant \forall integer i; 0 <= i < depth ==> 0 <= path[i] < trie->node_count;
        loop assigns entry, depth, path[0 .. MXU_TRIE_LEVELS - 1], trie->nodes[0 .. trie->node_count - 1];
        loop variant MXU_TRIE_LEVELS - depth; */
    while (entry >= 0 && depth < MXU_TRIE_LEVELS) {
        take_out(trie, entry, mxu_entry_of(number));
        path[depth++] = entry;
        entry = entry_at(trie, entry, address);
    }
    /*@ loop invariant mxu_nodes_in_bounds(trie) && 0 <= depth <= MXU_TRIE_LEVELS;
        loop invariant \forall integer i; 0 <= i < depth ==> 0 <= path[i] < trie->node_count;
        loop assigns depth, trie->root[0 .. MXU_ROOT_ENTRIES - 1],
            trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes,
            trie->nodes[0 .. trie->node_count - 1];
        loop variant depth; */
    while (depth > 0) {
        int16_t above = MXU_NONE;

        depth--;
        if (depth > 0) {
            above = path[depth - 1u];
        }
        dissolve(trie, path[depth], above, address);
    }
}

void mxu_paths_remove(struct mxu_trie *trie, int16_t number)
{
    struct extent all = extent_of(trie, number);
    uint32_t to = all.last / MXU_ROOT_SPAN;

    /* bound: MXU_ROOT_ENTRIES */
    /*@ loop invariant mxu_nodes_in_bounds(trie);
        loop assigns i, trie->root[0 .. MXU_ROOT_ENTRIES - 1];
        loop variant MXU_ROOT_ENTRIES - i; */
    for (uint32_t i = all.first / MXU_ROOT_SPAN; i <= to; i++) {
        if (trie->root[i] == mxu_entry_of(number)) {
            trie->root[i] = MXU_NONE;
        }
    }
    remove_along(trie, number, all.first);
    remove_along(trie, number, all.last);
}

/* Allocates a free node of at least this placement, the weakest that suffices, or MXU_NONE. */
/*@ requires is_sound(trie) && 0 <= at_least < MXU_PLACEMENTS;
    assigns trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes;
    ensures mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, \result); */
static int16_t take_at_least(struct mxu_trie *trie, uint32_t at_least)
{
    int16_t number = MXU_NONE;

    /*@ loop invariant 0 <= placement <= MXU_PLACEMENTS;
        loop invariant mxu_nodes_in_bounds(trie) && mxu_is_node_or_none(trie, number);
        loop assigns placement, number, trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes;
        loop variant MXU_PLACEMENTS - placement; */
    for (uint32_t placement = at_least; placement < MXU_PLACEMENTS && number == MXU_NONE; placement++) {
        number = take_from(trie, placement);
    }
    return number;
}

/* Copies the contents of `from` to `to`. The memory of `to`, and its position in a list, stay. */
/*@ requires is_sound(trie) && 0 <= from < trie->node_count && 0 <= to < trie->node_count;
    assigns trie->nodes[to];
    ensures mxu_nodes_in_bounds(trie); */
static void copy_node(struct mxu_trie *trie, int16_t to, int16_t from)
{
    /*@ loop invariant 0 <= i <= MXU_TRIE_ENTRIES && mxu_nodes_in_bounds(trie);
        loop assigns i, trie->nodes[to].entry[0 .. MXU_TRIE_ENTRIES - 1];
        loop variant MXU_TRIE_ENTRIES - i; */
    for (uint32_t i = 0; i < MXU_TRIE_ENTRIES; i++) {
        trie->nodes[to].entry[i] = trie->nodes[from].entry[i];
    }
    /*@ assert mxu_is_shift(trie->nodes[from].shift); */
    trie->nodes[to].base = trie->nodes[from].base;
    trie->nodes[to].shift = trie->nodes[from].shift;
}

bool mxu_paths_place(struct mxu_trie *trie, uint32_t address, enum mxu_placement at_least)
{
    int16_t above = MXU_NONE;
    int16_t number = entry_at(trie, MXU_NONE, address);

    /* bound: MXU_TRIE_LEVELS */
    /*@ loop invariant mxu_nodes_in_bounds(trie);
        loop invariant mxu_is_node_or_none(trie, above) && mxu_is_entry(trie, number);
        loop assigns above, number, trie->root[0 .. MXU_ROOT_ENTRIES - 1],
            trie->free_nodes[0 .. MXU_PLACEMENTS - 1], trie->used_nodes,
            trie->nodes[0 .. trie->node_count - 1]; */
    while (number >= 0) {
        if (trie->nodes[number].placement < (uint32_t)at_least) {
            int16_t better = take_at_least(trie, (uint32_t)at_least);

            if (better == MXU_NONE) {
                return false;
            }
            copy_node(trie, better, number);
            release(trie, number);
            set_entry(trie, above, address, better);
            number = better;
        }
        above = number;
        number = entry_at(trie, number, address);
    }
    return true;
}
