/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Read-only view of a flattened device tree (Devicetree Specification v0.4, chapter 5), as a boot loader
 * hands it over. Called at boot with the MMU off, and by tests and fuzzers. It trusts nothing: it reads
 * bytes, one at a time, and only within the blocks that devicetree_open() has found to lie inside of the
 * blob.
 */
#ifndef BULKHEAD_CORE_DEVICETREE_H
#define BULKHEAD_CORE_DEVICETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The boot protocol's limit; larger ones are refused. */
#define DEVICETREE_MAX_BYTES    0x200000u
#define DEVICETREE_HEADER_BYTES 40u
#define DEVICETREE_ALIGNMENT    8u
/* Deeper trees are refused: none that describes a board is. */
#define DEVICETREE_MAX_DEPTH    16u

struct devicetree {
    const uint8_t *blob;
    uint32_t total_bytes;
    uint32_t used_bytes; /* the end of the last block: what need be read */
    uint32_t reservations;
    uint32_t structure; /* offsets of the blocks */
    uint32_t structure_bytes;
    uint32_t strings;
    uint32_t strings_bytes;
};

/* A node: its properties start at `offset` of the structure block. */
struct devicetree_node {
    const char *name; /* with the unit address, NUL-terminated; empty for the root */
    uint32_t offset;
    uint32_t depth; /* 0: the root */
};

/* A place in the tree, between two nodes. Starts as all zeros. */
struct devicetree_walk {
    uint32_t offset;
    uint32_t depth; /* number of open nodes */
};

struct devicetree_value {
    const uint8_t *bytes;
    uint32_t length;
};

struct devicetree_range {
    uint64_t address;
    uint64_t bytes;
};

/* How many cells of 32 bits an address and a size have in `reg` of a node's children. */
struct devicetree_cells {
    uint32_t address;
    uint32_t size;
};

enum devicetree_step {
    DEVICETREE_NODE,    /* here is the next node */
    DEVICETREE_END,     /* there are no more */
    DEVICETREE_DAMAGED, /* not a tree */
};

/* Whether the first DEVICETREE_HEADER_BYTES at `blob` begin a device tree at all. */
bool devicetree_has_magic(const void *blob);

/* Checks the header: version 17, and blocks that lie within total_bytes <= DEVICETREE_MAX_BYTES, in the order
 * that the specification gives them. At most `available` >= DEVICETREE_HEADER_BYTES may be read, now and
 * later. */
bool devicetree_open(struct devicetree *tree, const void *blob, uint32_t available);

/* The next node in the order of the blob: parents before their children. */
enum devicetree_step devicetree_next(const struct devicetree *tree, struct devicetree_walk *walk,
                                     struct devicetree_node *node);

/* Looks a property of the node up. False: it has none, or what follows there is damaged. */
bool devicetree_property(const struct devicetree *tree, const struct devicetree_node *node, const char *name,
                         struct devicetree_value *value);

/* #address-cells and #size-cells of a node, or their defaults, 2 and 1. */
struct devicetree_cells devicetree_cells_of(const struct devicetree *tree,
                                            const struct devicetree_node *node);

/* Entry `index` of `reg` in a node whose parent has `cells`. False: there is no such entry, or its numbers
 * have more than 64 bits. */
bool devicetree_reg(const struct devicetree *tree, const struct devicetree_node *node,
                    struct devicetree_cells cells, uint32_t index, struct devicetree_range *range);

/* Entry `index` of the memory reservation block. False: there is no such entry. */
bool devicetree_reservation(const struct devicetree *tree, uint32_t index, struct devicetree_range *range);

/* `count` cells of a value, from its cell `first` on, as one number. False: the value is shorter, or the
 * number has more than 64 bits. */
bool devicetree_number(const struct devicetree_value *value, uint32_t first, uint32_t count,
                       uint64_t *number);

/* Whether one of the NUL-terminated strings of a value is `text`. */
bool devicetree_value_has(const struct devicetree_value *value, const char *text);

/* The same for the value of a property, if the node has it. */
bool devicetree_has_string(const struct devicetree *tree, const struct devicetree_node *node,
                           const char *property, const char *text);

/* Whether the node's name is `name`, with or without a unit address. */
bool devicetree_is_named(const struct devicetree_node *node, const char *name);

#ifdef __cplusplus
}
#endif

#endif
