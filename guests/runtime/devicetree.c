// SPDX-License-Identifier: Apache-2.0
//
// The reader is one tokenizer that checks every offset, and searches on top of it. Called before the MMU
// is on, so it reads bytes only.
#include "guests/runtime/devicetree.h"

#include "guests/runtime/string.h"

enum {
    header_bytes = 40,
    magic = (int)0xD00DFEEDu,
    token_begin = 1,
    token_end = 2,
    token_property = 3,
    token_nop = 4,
    token_finish = 9,
    max_depth = 16,
    max_cells = 2,
};

struct token {
    uint32_t kind;
    const char *name;      // of a node or property
    struct dt_value value; // of a property
};

// Where a search is: the open nodes from the root down, and what each says about its children.
struct walk {
    uint32_t offset;
    uint32_t depth; // open nodes
    struct {
        uint32_t address_cells;
        uint32_t size_cells;
    } level[max_depth + 1];
};

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool block_fits(uint32_t offset, uint32_t bytes, uint32_t total)
{
    return offset >= header_bytes && offset <= total && bytes <= total - offset;
}

bool dt_open(struct dt *tree, const void *blob, size_t limit)
{
    const uint8_t *bytes = blob;

    if (limit < header_bytes || word_at(bytes) != (uint32_t)magic)
        return false;
    uint32_t version = word_at(bytes + 20);
    uint32_t compatible_version = word_at(bytes + 24);
    tree->blob = bytes;
    tree->total_bytes = word_at(bytes + 4);
    tree->structure = word_at(bytes + 8);
    tree->strings = word_at(bytes + 12);
    tree->strings_bytes = word_at(bytes + 32);
    tree->structure_bytes = word_at(bytes + 36);
    if (version < 17 || compatible_version > 17)
        return false;
    if (tree->total_bytes > limit || tree->total_bytes > DT_MAX_BYTES)
        return false;
    return tree->structure % 4 == 0 &&
           block_fits(tree->structure, tree->structure_bytes, tree->total_bytes) &&
           block_fits(tree->strings, tree->strings_bytes, tree->total_bytes);
}

// A NUL-terminated string at `offset` of the block; NULL if it does not end within the block.
static const char *string_in(const struct dt *tree, uint32_t block, uint32_t block_bytes, uint32_t offset,
                             uint32_t *length)
{
    const uint8_t *start = tree->blob + block;

    for (uint32_t end = offset; end < block_bytes; end++) {
        if (start[end] == 0) {
            *length = end - offset;
            return (const char *)start + offset;
        }
    }
    return NULL;
}

static uint32_t align4(uint32_t offset)
{
    return (offset + 3u) & ~3u;
}

static bool read_property(const struct dt *tree, uint32_t *offset, struct token *token)
{
    const uint8_t *at = tree->blob + tree->structure + *offset;
    uint32_t left = tree->structure_bytes - *offset;
    uint32_t ignored;

    if (left < 8)
        return false;
    token->value.length = word_at(at);
    token->value.bytes = at + 8;
    token->name = string_in(tree, tree->strings, tree->strings_bytes, word_at(at + 4), &ignored);
    if (token->name == NULL || token->value.length > left - 8)
        return false;
    *offset = align4(*offset + 8 + token->value.length);
    return true;
}

// Reads the token at *offset of the structure block and steps over it. False: the end, or nonsense.
static bool next_token(const struct dt *tree, uint32_t *offset, struct token *token)
{
    uint32_t length;

    for (;;) {
        if (*offset > tree->structure_bytes || tree->structure_bytes - *offset < 4)
            return false;
        token->kind = word_at(tree->blob + tree->structure + *offset);
        *offset += 4;
        switch (token->kind) {
        case token_nop:
            continue;
        case token_begin:
            token->name = string_in(tree, tree->structure, tree->structure_bytes, *offset, &length);
            if (token->name == NULL)
                return false;
            *offset = align4(*offset + length + 1);
            return true;
        case token_property:
            return read_property(tree, offset, token);
        case token_end:
            return true;
        default:
            return false;
        }
    }
}

static void note_cells(struct walk *walk, const struct token *token)
{
    uint32_t cells;

    if (walk->depth == 0 || !dt_cell(&token->value, 0, &cells))
        return;
    if (text_equal(token->name, "#address-cells")) {
        walk->level[walk->depth].address_cells = cells;
    } else if (text_equal(token->name, "#size-cells")) {
        walk->level[walk->depth].size_cells = cells;
    }
}

static void walk_start(struct walk *walk)
{
    walk->offset = 0;
    walk->depth = 0;
    walk->level[0].address_cells = 2;
    walk->level[0].size_cells = 1;
}

// Steps to the next node in tree order.
static bool next_node(const struct dt *tree, struct walk *walk, struct dt_node *node)
{
    struct token token;

    while (next_token(tree, &walk->offset, &token)) {
        switch (token.kind) {
        case token_property:
            note_cells(walk, &token);
            break;
        case token_end:
            if (walk->depth == 0)
                return false;
            walk->depth--;
            break;
        default:
            if (walk->depth == max_depth)
                return false;
            node->offset = walk->offset;
            node->name = token.name;
            node->address_cells = walk->level[walk->depth].address_cells;
            node->size_cells = walk->level[walk->depth].size_cells;
            walk->depth++;
            walk->level[walk->depth].address_cells = 2; // the specification's defaults
            walk->level[walk->depth].size_cells = 1;
            return true;
        }
    }
    return false;
}

// Does a node's name match the path component of `length` bytes?
static bool name_matches(const char *name, const char *component, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (name[i] != component[i] || name[i] == 0)
            return false;
    }
    return name[length] == 0 || name[length] == '@';
}

bool dt_find_path(const struct dt *tree, const char *path, struct dt_node *node)
{
    struct walk walk;
    uint32_t matched = 1; // open nodes that lie on the path; the root always does

    walk_start(&walk);
    if (!next_node(tree, &walk, node))
        return false;
    while (*path == '/')
        path++;
    while (*path != 0) {
        size_t length = 0;
        while (path[length] != 0 && path[length] != '/')
            length++;
        do {
            // At most `matched` open before this node: else it is deeper than a child, skip; fewer: the
            // parent ended.
            if (!next_node(tree, &walk, node) || walk.depth <= matched)
                return false;
        } while (walk.depth != matched + 1 || !name_matches(node->name, path, length));
        matched++;
        path += length;
        while (*path == '/')
            path++;
    }
    return true;
}

static bool find_by_string(const struct dt *tree, const char *property, const char *text, unsigned nth,
                           struct dt_node *node)
{
    struct walk walk;
    struct dt_value value;

    walk_start(&walk);
    while (next_node(tree, &walk, node)) {
        if (!dt_property(tree, node, property, &value) || !dt_has_string(&value, text))
            continue;
        if (nth == 0)
            return true;
        nth--;
    }
    return false;
}

bool dt_find_compatible(const struct dt *tree, const char *compatible, unsigned nth, struct dt_node *node)
{
    return find_by_string(tree, "compatible", compatible, nth, node);
}

bool dt_find_type(const struct dt *tree, const char *device_type, unsigned nth, struct dt_node *node)
{
    return find_by_string(tree, "device_type", device_type, nth, node);
}

bool dt_property(const struct dt *tree, const struct dt_node *node, const char *name, struct dt_value *value)
{
    uint32_t offset = node->offset;
    struct token token;

    while (next_token(tree, &offset, &token) && token.kind == token_property) {
        if (text_equal(token.name, name)) {
            *value = token.value;
            return true;
        }
    }
    return false;
}

bool dt_cell(const struct dt_value *value, uint32_t index, uint32_t *cell)
{
    if (index >= value->length / 4)
        return false;
    *cell = word_at(value->bytes + (size_t)index * 4);
    return true;
}

static bool read_cells(const struct dt_value *value, uint32_t first, uint32_t count, uint64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cell;
        if (!dt_cell(value, first + i, &cell))
            return false;
        *number = *number << 32 | cell;
    }
    return true;
}

bool dt_number(const struct dt_value *value, uint64_t *number)
{
    return (value->length == 4 || value->length == 8) && read_cells(value, 0, value->length / 4, number);
}

bool dt_has_string(const struct dt_value *value, const char *text)
{
    uint32_t start = 0;

    for (uint32_t end = 0; end < value->length; end++) {
        if (value->bytes[end] != 0)
            continue;
        if (text_equal((const char *)value->bytes + start, text))
            return true;
        start = end + 1;
    }
    return false;
}

bool dt_reg(const struct dt *tree, const struct dt_node *node, uint32_t index, struct dt_range *range)
{
    struct dt_value value;
    uint32_t address_cells = node->address_cells;
    uint32_t size_cells = node->size_cells;

    if (address_cells == 0 || address_cells > max_cells || size_cells > max_cells)
        return false;
    uint32_t entry_cells = address_cells + size_cells;
    if (!dt_property(tree, node, "reg", &value) || index >= value.length / 4 / entry_cells)
        return false;
    return read_cells(&value, index * entry_cells, address_cells, &range->address) &&
           read_cells(&value, index * entry_cells + address_cells, size_cells, &range->size);
}
