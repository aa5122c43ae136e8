// SPDX-License-Identifier: Apache-2.0
//
// Searches in the guest's device tree, for board.c and params.c. The parser below is core's, which the
// hypervisor uses too: it never reads outside the blob, whatever the blob contains; invalid contents end a
// search, not the guest.
#ifndef BULKHEAD_GUESTS_DEVICETREE_H
#define BULKHEAD_GUESTS_DEVICETREE_H

#include "core/devicetree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Larger blobs are refused: no guest needs them, and an invalid size must not be used.
#define DT_MAX_BYTES DEVICETREE_MAX_BYTES

struct dt {
    struct devicetree tree;
};

// A node: offset of its first property, and the cell counts of its parent.
struct dt_node {
    uint32_t offset;
    uint32_t address_cells;
    uint32_t size_cells;
    const char *name; // with the unit address; empty for the root
};

struct dt_value {
    const uint8_t *bytes;
    uint32_t length;
};

struct dt_range {
    uint64_t address;
    uint64_t size;
};

// Checks the header of the blob at `blob`, of which at most `limit` bytes may be read. False: not a device
// tree of version 17, or one that contradicts itself.
bool dt_open(struct dt *tree, const void *blob, size_t limit);

// Finds the node at an absolute path; a component without `@` matches any unit address.
bool dt_find_path(const struct dt *tree, const char *path, struct dt_node *node);

// Finds the `nth` node (from 0) in tree order that is `compatible` with the given string.
bool dt_find_compatible(const struct dt *tree, const char *compatible, unsigned nth, struct dt_node *node);

// Finds the `nth` node in tree order whose `device_type` is the given one.
bool dt_find_type(const struct dt *tree, const char *device_type, unsigned nth, struct dt_node *node);

bool dt_property(const struct dt *tree, const struct dt_node *node, const char *name, struct dt_value *value);

// Cell `index` of a value of 32-bit cells.
bool dt_cell(const struct dt_value *value, uint32_t index, uint32_t *cell);

// A whole value of one or two cells.
bool dt_number(const struct dt_value *value, uint64_t *number);

// Whether `text` is one of the value's NUL-terminated strings.
bool dt_has_string(const struct dt_value *value, const char *text);

// Entry `index` of `reg`. Buses between the node and the root are assumed to map addresses one to one.
bool dt_reg(const struct dt *tree, const struct dt_node *node, uint32_t index, struct dt_range *range);

#endif
