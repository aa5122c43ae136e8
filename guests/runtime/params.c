// SPDX-License-Identifier: Apache-2.0
//
// Lookup in the device tree that board_discover() found.
#include "guests/runtime/params.h"

#include "guests/runtime/board.h"

uint64_t param(const char *name, uint64_t fallback)
{
    const struct board *b = board();
    struct fdt_node node;
    struct fdt_value value;
    uint64_t number;

    if (b->has_fdt && fdt_find_path(&b->fdt, "/bulkhead", &node) &&
        fdt_property(&b->fdt, &node, name, &value) && fdt_number(&value, &number))
        return number;
    return fallback;
}
