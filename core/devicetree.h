/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Read-only view of a flattened device tree (Devicetree Specification v0.4, chapter 5), as a boot loader
 * passes it. Called at boot with the MMU off, and by tests and fuzzers. The blob is not trusted: it is read
 * one byte at a time, and only within the blocks that devicetree_open() has found to lie inside the blob.
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
/* The deepest nesting that is accepted; no tree that describes a board is deeper. */
#define DEVICETREE_MAX_DEPTH    16u

struct devicetree {
    const uint8_t *blob;
    uint32_t total_bytes;
    uint32_t used_bytes; /* offset of the end of the last block: bytes after it need not be read */
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

/* A position between two nodes of the tree. All zeros: the start. */
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

/* The numbers of 32-bit cells of an address and of a size in the `reg` property of a node's children. */
struct devicetree_cells {
    uint32_t address;
    uint32_t size;
};

/*@ // What devicetree_open() establishes, and everything else here stands on.
    predicate is_tree(struct devicetree *tree) =
        \valid_read(tree) && \valid_read(tree->blob + (0 .. tree->total_bytes - 1)) &&
        tree->total_bytes <= DEVICETREE_MAX_BYTES && tree->reservations <= tree->structure &&
        tree->structure + tree->structure_bytes <= tree->strings &&
        tree->strings + tree->strings_bytes <= tree->total_bytes;
    predicate is_value(struct devicetree_value *value) =
        \valid_read(value->bytes + (0 .. value->length - 1)) && value->length <= DEVICETREE_MAX_BYTES;
    inductive is_text{L}(char *text) {
        case ends{L}: \forall char *at; \valid_read(at) && *at == 0 ==> is_text(at);
        case goes_on{L}: \forall char *at; \valid_read(at) && *at != 0 && is_text(at + 1) ==> is_text(at);
    } */

enum devicetree_step {
    DEVICETREE_NODE,    /* the next node was found */
    DEVICETREE_END,     /* there are no more */
    DEVICETREE_DAMAGED, /* the blob is malformed */
};

/* Whether the first DEVICETREE_HEADER_BYTES at `blob` begin a device tree at all. */
/*@ requires \valid_read((const uint8_t *)blob + (0 .. DEVICETREE_HEADER_BYTES - 1));
    assigns \nothing; */
bool devicetree_has_magic(const void *blob);

/* Checks the header: version 17, and blocks that lie within total_bytes <= DEVICETREE_MAX_BYTES, in the
 * order that the specification gives. At most `available` >= DEVICETREE_HEADER_BYTES bytes are read, now
 * and later. */
/*@ requires \valid_read((const uint8_t *)blob + (0 .. available - 1));
    requires DEVICETREE_HEADER_BYTES <= available && \valid(tree);
    requires \separated(tree, (const uint8_t *)blob + (0 .. available - 1));
    assigns *tree;
    ensures \result ==> is_tree(tree) && tree->blob == blob && tree->total_bytes <= available; */
bool devicetree_open(struct devicetree *tree, const void *blob, uint32_t available);

/* The next node in the order of the blob: parents before their children. */
/*@ requires is_tree(tree) && \valid(walk) && \valid(node) && \separated(tree, walk, node);
    requires walk->offset <= tree->structure_bytes && walk->depth <= DEVICETREE_MAX_DEPTH;
    assigns *walk, *node;
    ensures walk->offset <= tree->structure_bytes && walk->depth <= DEVICETREE_MAX_DEPTH;
    ensures \result == DEVICETREE_NODE ==> node->offset <= tree->structure_bytes; */
enum devicetree_step devicetree_next(const struct devicetree *tree, struct devicetree_walk *walk,
                                     struct devicetree_node *node);

/* Looks up a property of the node. Returns false if the node has no such property or the blob is damaged
 * there. */
/*@ requires is_tree(tree) && \valid_read(node) && node->offset <= tree->structure_bytes && is_text(name);
    requires \valid(value) && \separated(value, tree) && \separated(value, node);
    assigns *value;
    ensures \result ==> is_value(value); */
bool devicetree_property(const struct devicetree *tree, const struct devicetree_node *node, const char *name,
                         struct devicetree_value *value);

/* #address-cells and #size-cells of a node, or their defaults 2 and 1. */
/*@ requires is_tree(tree) && \valid_read(node) && node->offset <= tree->structure_bytes;
    assigns \nothing; */
struct devicetree_cells devicetree_cells_of(const struct devicetree *tree,
                                            const struct devicetree_node *node);

/* Entry `index` of `reg` in a node whose parent has `cells`. Returns false if there is no such entry or one
 * of its numbers has more than 64 bits. */
/*@ requires is_tree(tree) && \valid_read(node) && node->offset <= tree->structure_bytes && \valid(range);
    assigns *range; */
bool devicetree_reg(const struct devicetree *tree, const struct devicetree_node *node,
                    struct devicetree_cells cells, uint32_t index, struct devicetree_range *range);

/* Entry `index` of the memory reservation block. Returns false if there is no such entry. */
/*@ requires is_tree(tree) && \valid(range) && \separated(range, tree);
    assigns *range; */
bool devicetree_reservation(const struct devicetree *tree, uint32_t index, struct devicetree_range *range);

/* The number in `count` cells of a value, starting with cell `first`. Returns false if the value is shorter
 * or the number has more than 64 bits. */
/*@ requires \valid_read(value) && is_value(value) && \valid(number) && \separated(number, value);
    assigns *number; */
bool devicetree_number(const struct devicetree_value *value, uint32_t first, uint32_t count,
                       uint64_t *number);

/* Whether one of the NUL-terminated strings of a value is `text`. */
/*@ requires \valid_read(value) && is_value(value) && is_text(text);
    assigns \nothing; */
bool devicetree_value_has(const struct devicetree_value *value, const char *text);

/* The same for a property of the node; false if the node does not have it. */
/*@ requires is_tree(tree) && \valid_read(node) && node->offset <= tree->structure_bytes;
    requires is_text(property) && is_text(text);
    assigns \nothing; */
bool devicetree_has_string(const struct devicetree *tree, const struct devicetree_node *node,
                           const char *property, const char *text);

/* Whether the node's name is `name`, with or without a unit address. */
/*@ requires \valid_read(node) && is_text(node->name) && is_text(name);
    assigns \nothing; */
bool devicetree_is_named(const struct devicetree_node *node, const char *name);

#ifdef __cplusplus
}
#endif

#endif
