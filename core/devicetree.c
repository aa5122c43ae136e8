/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Reader of flattened device trees. Offsets have 32 bits and are compared with the length that is left, never
 * added before the comparison, so that no sum of hostile numbers can wrap.
 */
#include "core/devicetree.h"

#define MAGIC             0xD00DFEEDu
#define VERSION           17u
#define OLDEST_READER     16u
#define RESERVATION_BYTES 16u
#define MOST_CELLS        2u
#define DEFAULT_ADDRESS   2u
#define DEFAULT_SIZE      1u
#define TOKEN_BYTES       4u
#define PROPERTY_BYTES    8u /* length and name, behind the token */
#define TOKEN_BEGIN_NODE  1u
#define TOKEN_END_NODE    2u
#define TOKEN_PROPERTY    3u
#define TOKEN_NOP         4u

/* Offsets of fields in the header. */
enum {
    HEADER_TOTAL_BYTES = 4,
    HEADER_STRUCTURE = 8,
    HEADER_STRINGS = 12,
    HEADER_RESERVATIONS = 16,
    HEADER_VERSION = 20,
    HEADER_LAST_COMPATIBLE = 24,
    HEADER_STRINGS_BYTES = 32,
    HEADER_STRUCTURE_BYTES = 36,
};

/* Reads byte by byte: the blob need not be aligned, and with the MMU off only aligned accesses are
 * allowed. */
/*@ requires \valid_read(bytes + (0 .. 3));
    assigns \nothing; */
static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/*@ assigns \nothing;
    ensures \result <==> offset + bytes <= total; */
static bool block_fits(uint32_t offset, uint32_t bytes, uint32_t total)
{
    return offset <= total && bytes <= total - offset;
}

/* Whether the NUL-terminated string at `offset` of a block is `text`. */
/*@ requires \valid_read(block + (0 .. block_bytes - 1)) && is_text(text);
    assigns \nothing; */
static bool text_at(const uint8_t *block, uint32_t block_bytes, uint32_t offset, const char *text)
{
    /*@ loop invariant is_text(text);
        loop assigns offset, text;
        loop variant block_bytes - offset; */
    for (; offset < block_bytes && block[offset] == (uint8_t)*text; offset++, text++) {
        if (*text == '\0') {
            return true;
        }
    }
    return false;
}

bool devicetree_has_magic(const void *blob)
{
    return word_at(blob) == MAGIC;
}

bool devicetree_open(struct devicetree *tree, const void *blob, uint32_t available)
{
    const uint8_t *header = blob;

    *tree = (struct devicetree){
        .blob = header,
        .total_bytes = word_at(header + HEADER_TOTAL_BYTES),
        .reservations = word_at(header + HEADER_RESERVATIONS),
        .structure = word_at(header + HEADER_STRUCTURE),
        .structure_bytes = word_at(header + HEADER_STRUCTURE_BYTES),
        .strings = word_at(header + HEADER_STRINGS),
        .strings_bytes = word_at(header + HEADER_STRINGS_BYTES),
    };
    if (!devicetree_has_magic(blob) || word_at(header + HEADER_VERSION) < VERSION ||
        word_at(header + HEADER_LAST_COMPATIBLE) > VERSION || tree->total_bytes > DEVICETREE_MAX_BYTES ||
        tree->total_bytes > available) {
        return false;
    }
    tree->used_bytes = tree->strings + tree->strings_bytes;
    return tree->reservations >= DEVICETREE_HEADER_BYTES && tree->reservations <= tree->structure &&
           tree->structure % TOKEN_BYTES == 0 &&
           block_fits(tree->structure, tree->structure_bytes, tree->strings) &&
           block_fits(tree->strings, tree->strings_bytes, tree->total_bytes);
}

/* Length of the NUL-terminated string at `offset` of a block; false if it does not end within the block. */
/*@ requires \valid_read(block + (0 .. block_bytes - 1)) && \valid(length);
    requires \separated(length, block + (0 .. block_bytes - 1));
    assigns *length;
    ensures \result ==> offset + *length < block_bytes; */
static bool string_length(const uint8_t *block, uint32_t block_bytes, uint32_t offset, uint32_t *length)
{
    /*@ loop invariant offset <= end;
        loop assigns end;
        loop variant block_bytes - end; */
    for (uint32_t end = offset; end < block_bytes; end++) {
        if (block[end] == 0) {
            *length = end - offset;
            return true;
        }
    }
    return false;
}

/* Steps over `bytes` of the structure block and the padding behind them. */
/*@ requires \valid_read(tree) && \valid(offset) && \separated(offset, tree);
    requires *offset <= tree->structure_bytes <= DEVICETREE_MAX_BYTES;
    assigns *offset;
    ensures \old(*offset) <= *offset <= tree->structure_bytes;
    ensures \result ==> \old(*offset) + bytes <= *offset; */
static bool advance(const struct devicetree *tree, uint32_t *offset, uint32_t bytes)
{
    uint32_t left = tree->structure_bytes - *offset;
    uint32_t padded;

    if (bytes > left) {
        return false;
    }
    padded = (bytes + TOKEN_BYTES - 1) / TOKEN_BYTES * TOKEN_BYTES;
    *offset += padded > left ? left : padded;
    return true;
}

/*@ requires is_tree(tree) && \valid(offset) && \valid(token) && \separated(offset, tree, token);
    requires *offset <= tree->structure_bytes;
    assigns *offset, *token;
    ensures \old(*offset) <= *offset <= tree->structure_bytes;
    ensures \result ==> \old(*offset) < *offset; */
static bool next_token(const struct devicetree *tree, uint32_t *offset, uint32_t *token)
{
    const uint8_t *structure = tree->blob + tree->structure;

    /*@ loop invariant \at(*offset, Pre) <= *offset <= tree->structure_bytes;
        loop assigns *offset, *token;
        loop variant tree->structure_bytes - *offset; */
    do {
        uint32_t at = *offset;

        if (!advance(tree, offset, TOKEN_BYTES)) {
            return false;
        }
        *token = word_at(structure + at);
    } while (*token == TOKEN_NOP);
    return true;
}

/* Reads the property whose token was before `offset` and steps over it. */
/*@ requires is_tree(tree) && \valid(offset) && \valid(name) && \valid(value);
    requires \separated(tree, offset, name, value) && *offset <= tree->structure_bytes;
    assigns *offset, *name, *value;
    ensures \old(*offset) <= *offset <= tree->structure_bytes;
    ensures \result ==> is_value(value); */
static bool read_property(const struct devicetree *tree, uint32_t *offset, uint32_t *name,
                          struct devicetree_value *value)
{
    const uint8_t *at = tree->blob + tree->structure + *offset;

    if (!advance(tree, offset, PROPERTY_BYTES)) {
        return false;
    }
    value->length = word_at(at);
    value->bytes = at + PROPERTY_BYTES;
    *name = word_at(at + 4);
    return advance(tree, offset, value->length);
}

/*@ requires is_tree(tree) && \valid(walk) && \valid(node) && \separated(tree, walk, node);
    requires walk->offset <= tree->structure_bytes && walk->depth <= DEVICETREE_MAX_DEPTH;
    assigns *walk, *node;
    ensures walk->offset <= tree->structure_bytes && walk->depth <= DEVICETREE_MAX_DEPTH;
    ensures \result ==> node->offset <= tree->structure_bytes; */
static bool begin_node(const struct devicetree *tree, struct devicetree_walk *walk,
                       struct devicetree_node *node)
{
    const uint8_t *structure = tree->blob + tree->structure;
    uint32_t start = walk->offset;
    uint32_t length;

    if (walk->depth == DEVICETREE_MAX_DEPTH ||
        !string_length(structure, tree->structure_bytes, start, &length) ||
        !advance(tree, &walk->offset, length + 1)) {
        return false;
    }
    node->name = (const char *)structure + start;
    node->offset = walk->offset;
    node->depth = walk->depth;
    walk->depth++;
    return true;
}

enum devicetree_step devicetree_next(const struct devicetree *tree, struct devicetree_walk *walk,
                                     struct devicetree_node *node)
{
    struct devicetree_value value;
    uint32_t token;
    uint32_t name;

    /*@ loop invariant walk->offset <= tree->structure_bytes && walk->depth <= DEVICETREE_MAX_DEPTH;
        loop assigns *walk, *node, token, name, value;
        loop variant tree->structure_bytes - walk->offset; */
    while (next_token(tree, &walk->offset, &token)) {
        if (token == TOKEN_BEGIN_NODE) {
            return begin_node(tree, walk, node) ? DEVICETREE_NODE : DEVICETREE_DAMAGED;
        }
        if (walk->depth == 0) {
            return DEVICETREE_DAMAGED; /* a property outside of all nodes */
        }
        if (token == TOKEN_END_NODE) {
            walk->depth--;
            if (walk->depth == 0) {
                return DEVICETREE_END;
            }
        } else if (token != TOKEN_PROPERTY || !read_property(tree, &walk->offset, &name, &value)) {
            return DEVICETREE_DAMAGED;
        }
    }
    return DEVICETREE_DAMAGED;
}

bool devicetree_property(const struct devicetree *tree, const struct devicetree_node *node, const char *name,
                         struct devicetree_value *value)
{
    const uint8_t *strings = tree->blob + tree->strings;
    uint32_t offset = node->offset;
    uint32_t token;
    uint32_t name_offset;

    /*@ loop invariant offset <= tree->structure_bytes;
        loop assigns offset, token, name_offset, *value;
        loop variant tree->structure_bytes - offset; */
    while (next_token(tree, &offset, &token) && token == TOKEN_PROPERTY &&
           read_property(tree, &offset, &name_offset, value)) {
        if (text_at(strings, tree->strings_bytes, name_offset, name)) {
            return true;
        }
    }
    return false;
}

bool devicetree_number(const struct devicetree_value *value, uint32_t first, uint32_t count, uint64_t *number)
{
    *number = 0;
    if (count > MOST_CELLS || first > value->length / 4 || count > value->length / 4 - first) {
        return false;
    }
    /*@ loop invariant first <= i <= first + count;
        loop assigns i, *number;
        loop variant first + count - i; */
    for (uint32_t i = first; i < first + count; i++) {
        *number = *number << 32 | word_at(value->bytes + (size_t)i * 4);
    }
    return true;
}

/*@ requires is_tree(tree) && \valid_read(node) && node->offset <= tree->structure_bytes && is_text(name);
    assigns \nothing; */
static uint32_t one_cell(const struct devicetree *tree, const struct devicetree_node *node, const char *name,
                         uint32_t otherwise)
{
    struct devicetree_value value;
    uint64_t number;

    if (!devicetree_property(tree, node, name, &value) || !devicetree_number(&value, 0, 1, &number)) {
        return otherwise;
    }
    return (uint32_t)number;
}

struct devicetree_cells devicetree_cells_of(const struct devicetree *tree, const struct devicetree_node *node)
{
    struct devicetree_cells cells = {
        .address = one_cell(tree, node, "#address-cells", DEFAULT_ADDRESS),
        .size = one_cell(tree, node, "#size-cells", DEFAULT_SIZE),
    };

    return cells;
}

bool devicetree_reg(const struct devicetree *tree, const struct devicetree_node *node,
                    struct devicetree_cells cells, uint32_t index, struct devicetree_range *range)
{
    struct devicetree_value value;
    uint32_t entry;

    if (cells.address == 0 || cells.address > MOST_CELLS || cells.size > MOST_CELLS ||
        index >= DEVICETREE_MAX_BYTES || !devicetree_property(tree, node, "reg", &value)) {
        return false;
    }
    entry = index * (cells.address + cells.size);
    return devicetree_number(&value, entry, cells.address, &range->address) &&
           devicetree_number(&value, entry + cells.address, cells.size, &range->bytes);
}

bool devicetree_reservation(const struct devicetree *tree, uint32_t index, struct devicetree_range *range)
{
    const uint8_t *entry = tree->blob + tree->reservations;
    struct devicetree_value value = {.bytes = entry, .length = tree->structure - tree->reservations};

    if (index >= value.length / RESERVATION_BYTES) {
        return false;
    }
    (void)devicetree_number(&value, index * 4, 2, &range->address);
    (void)devicetree_number(&value, index * 4 + 2, 2, &range->bytes);
    return range->address != 0 || range->bytes != 0; /* an entry of zeros ends the list */
}

bool devicetree_value_has(const struct devicetree_value *value, const char *text)
{
    uint32_t length;

    /*@ loop invariant at <= value->length;
        loop assigns at, length;
        loop variant value->length - at; */
    for (uint32_t at = 0; string_length(value->bytes, value->length, at, &length); at += length + 1) {
        if (text_at(value->bytes, value->length, at, text)) {
            return true;
        }
    }
    return false;
}

bool devicetree_has_string(const struct devicetree *tree, const struct devicetree_node *node,
                           const char *property, const char *text)
{
    struct devicetree_value value;

    return devicetree_property(tree, node, property, &value) && devicetree_value_has(&value, text);
}

bool devicetree_is_named(const struct devicetree_node *node, const char *name)
{
    const char *own = node->name;

    /*@ loop invariant is_text(own) && is_text(name);
        loop assigns own, name; */
    while (*own == *name && *own != '\0') {
        own++;
        name++;
    }
    return *name == '\0' && (*own == '\0' || *own == '@');
}
