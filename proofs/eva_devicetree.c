/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over core/devicetree.c: any bytes, any size up to the buffer's, every
 * look-up in whatever nodes are found.
 */
#include "core/devicetree.h"
#include "frama_c.h"

#define BLOB_BYTES 4096u

static uint8_t blob[BLOB_BYTES];
static struct devicetree tree;

static bool any_tree(void)
{
    any_bytes(blob, sizeof blob);
    return devicetree_open(&tree, blob, any_u32_between(DEVICETREE_HEADER_BYTES, BLOB_BYTES));
}

static bool any_node(struct devicetree_node *node)
{
    struct devicetree_walk walk = {0, 0};

    walk.offset = any_u32_between(0, UINT32_MAX);
    walk.depth = any_u32_between(0, DEVICETREE_MAX_DEPTH);
    return any_tree() && devicetree_next(&tree, &walk, node) == DEVICETREE_NODE;
}

void prove_devicetree_open(void)
{
    (void)any_tree();
}

void prove_devicetree_next(void)
{
    struct devicetree_node node;

    (void)any_node(&node);
}

void prove_devicetree_property(void)
{
    struct devicetree_node node;
    struct devicetree_value value;

    if (any_node(&node)) {
        (void)devicetree_property(&tree, &node, "reg", &value);
    }
}

void prove_devicetree_reservation(void)
{
    struct devicetree_range range;

    if (any_tree()) {
        (void)devicetree_reservation(&tree, any_u32_between(0, UINT32_MAX), &range);
    }
}
