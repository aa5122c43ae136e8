/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds the PSCI node to the board's device tree, in place, as firmware that provides PSCI does. The
 * emulator's trees have room after their strings. Accesses are bytes only: with the MMU off memory allows
 * aligned access only.
 */
#include "firmware.h"

#define MAGIC           0xD00DFEEDu
#define TOTAL_BYTES     4u
#define STRUCTURE       8u
#define STRINGS         12u
#define STRINGS_BYTES   32u
#define STRUCTURE_BYTES 36u
#define TAIL_BYTES      8u /* end of the root, end of the tree */

static uint32_t get(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

/* The names of both properties, and the node up to their offsets in the strings block. */
static const uint8_t names[] = "compatible\0method";
enum { NAME_COMPATIBLE = 0, NAME_METHOD = 11 };
static const uint8_t node[] = {
    0,   0,   0,   1,           'p', 's', 'c', 'i', 0,   0,   0,   0, /* begin */
    0,   0,   0,   3,           0,   0,   0,   26,  0,   0,   0,   NAME_COMPATIBLE,
    'a', 'r', 'm', ',',         'p', 's', 'c', 'i', '-', '1', '.', '0',
    0,   'a', 'r', 'm',         ',', 'p', 's', 'c', 'i', '-', '0', '.',
    '2', 0,   0,   0,           0,   0,   0,   3,   0,   0,   0,   4,
    0,   0,   0,   NAME_METHOD, 's', 'm', 'c', 0,   0,   0,   0,   2, /* end */
};
enum { AT_COMPATIBLE = 20, AT_METHOD = 60 };

_Bool tree_add_psci(uint8_t *tree)
{
    uint32_t structure = get(tree + STRUCTURE);
    uint32_t structure_bytes = get(tree + STRUCTURE_BYTES);
    uint32_t strings = get(tree + STRINGS);
    uint32_t strings_bytes = get(tree + STRINGS_BYTES);
    uint32_t place = structure + structure_bytes - TAIL_BYTES;
    uint32_t end = strings + strings_bytes;

    if (get(tree) != MAGIC || strings < structure ||
        get(tree + TOTAL_BYTES) - end < sizeof node + sizeof names) {
        return 0;
    }
    for (uint32_t i = end; i-- > place;) {
        tree[i + sizeof node] = tree[i];
    }
    for (uint32_t i = 0; i < sizeof node; i++) {
        tree[place + i] = node[i];
    }
    for (uint32_t i = 0; i < sizeof names; i++) {
        tree[end + sizeof node + i] = names[i];
    }
    put(tree + place + AT_COMPATIBLE, strings_bytes + NAME_COMPATIBLE);
    put(tree + place + AT_METHOD, strings_bytes + NAME_METHOD);
    put(tree + STRUCTURE_BYTES, structure_bytes + (uint32_t)sizeof node);
    put(tree + STRINGS, strings + (uint32_t)sizeof node);
    put(tree + STRINGS_BYTES, strings_bytes + (uint32_t)sizeof names);
    return 1;
}
