// SPDX-License-Identifier: Apache-2.0
//
// Searches on top of core's reader. Called before the MMU is on, which that reader supports. It adds searches
// from the root: by path and by property, with the cell counts of the parent.
#include "guests/runtime/devicetree.h"

// Position of a search, and what each open node says about its children.
struct search {
    struct devicetree_walk walk;
    struct devicetree_cells cells[DEVICETREE_MAX_DEPTH];
    uint32_t depth; // of the node that was found last
};

bool dt_open(struct dt *tree, const void *blob, size_t limit)
{
    return limit >= DEVICETREE_HEADER_BYTES &&
           devicetree_open(&tree->tree, blob, limit > DT_MAX_BYTES ? DT_MAX_BYTES : (uint32_t)limit);
}

// Steps to the next node in tree order.
static bool next_node(const struct dt *tree, struct search *search, struct dt_node *found)
{
    const struct devicetree_cells of_root = {2, 1}; // the specification's defaults
    struct devicetree_cells cells = of_root;
    struct devicetree_node node;

    if (devicetree_next(&tree->tree, &search->walk, &node) != DEVICETREE_NODE)
        return false;
    if (node.depth > 0)
        cells = search->cells[node.depth - 1];
    search->cells[node.depth] = devicetree_cells_of(&tree->tree, &node);
    search->depth = node.depth;
    *found = (struct dt_node){
        .offset = node.offset,
        .address_cells = cells.address,
        .size_cells = cells.size,
        .name = node.name,
    };
    return true;
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
    struct search search = {.depth = 0};
    uint32_t depth = 0; // depth of the node that matches the path so far

    if (!next_node(tree, &search, node))
        return false;
    while (*path == '/')
        path++;
    while (*path != 0) {
        size_t length = 0;
        while (path[length] != 0 && path[length] != '/')
            length++;
        do {
            if (!next_node(tree, &search, node) || search.depth <= depth)
                return false; // the parent node has ended
        } while (search.depth != depth + 1 || !name_matches(node->name, path, length));
        depth++;
        path += length;
        while (*path == '/')
            path++;
    }
    return true;
}

static bool find_by_string(const struct dt *tree, const char *property, const char *text, unsigned nth,
                           struct dt_node *node)
{
    struct search search = {.depth = 0};
    struct dt_value value;

    while (next_node(tree, &search, node)) {
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

static struct devicetree_node core_node(const struct dt_node *node)
{
    return (struct devicetree_node){.name = node->name, .offset = node->offset};
}

static struct devicetree_value core_value(const struct dt_value *value)
{
    return (struct devicetree_value){.bytes = value->bytes, .length = value->length};
}

bool dt_property(const struct dt *tree, const struct dt_node *node, const char *name, struct dt_value *value)
{
    struct devicetree_node in = core_node(node);
    struct devicetree_value found;

    if (!devicetree_property(&tree->tree, &in, name, &found))
        return false;
    *value = (struct dt_value){.bytes = found.bytes, .length = found.length};
    return true;
}

bool dt_cell(const struct dt_value *value, uint32_t index, uint32_t *cell)
{
    struct devicetree_value cells = core_value(value);
    uint64_t number;

    if (!devicetree_number(&cells, index, 1, &number))
        return false;
    *cell = (uint32_t)number;
    return true;
}

bool dt_number(const struct dt_value *value, uint64_t *number)
{
    struct devicetree_value cells = core_value(value);

    return (value->length == 4 || value->length == 8) &&
           devicetree_number(&cells, 0, value->length / 4, number);
}

bool dt_has_string(const struct dt_value *value, const char *text)
{
    struct devicetree_value strings = core_value(value);

    return devicetree_value_has(&strings, text);
}

bool dt_reg(const struct dt *tree, const struct dt_node *node, uint32_t index, struct dt_range *range)
{
    struct devicetree_node in = core_node(node);
    struct devicetree_cells cells = {node->address_cells, node->size_cells};
    struct devicetree_range found;

    if (!devicetree_reg(&tree->tree, &in, cells, index, &found))
        return false;
    *range = (struct dt_range){.address = found.address, .size = found.bytes};
    return true;
}
