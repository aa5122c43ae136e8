// SPDX-License-Identifier: Apache-2.0
//
// Lookup in the device tree that board_discover() found.
#include "guests/runtime/params.h"

#include "guests/runtime/board.h"

uint64_t param(const char *name, uint64_t fallback)
{
    const struct board *b = board();
    struct dt_node node;
    struct dt_value value;
    uint64_t number;

    if (b->has_tree && dt_find_path(&b->tree, "/bulkhead", &node) &&
        dt_property(&b->tree, &node, name, &value) && dt_number(&value, &number))
        return number;
    return fallback;
}
