/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Counts the table nodes that spans need. The part of a span that one entry maps whole needs no node below
 * it; at most two pieces remain, one at each end.
 */
#include "core/mxu_tables.h"

#define PAGE_SHIFT      12u
#define AARCH64_STRIDE  9u
#define LAST_LEVEL      3u
#define MOST_INPUT_BITS 52u

const struct mxu_table_shape mxu_armv7a_tables = {
    .level = {{.shift = 20, .index_bits = 12, .entry_bytes = 4, .blocks = 1},
              {.shift = PAGE_SHIFT, .index_bits = 8, .entry_bytes = 4, .blocks = 1}},
    .levels = 2,
};

struct mxu_table_shape mxu_aarch64_tables(uint32_t first_level, uint32_t root_bits, bool blocks)
{
    struct mxu_table_shape shape = {.levels = LAST_LEVEL + 1u - first_level};

    for (uint32_t i = 0; i < shape.levels; i++) {
        bool last = first_level + i == LAST_LEVEL;

        shape.level[i] = (struct mxu_table_level){
            .shift = (uint8_t)(PAGE_SHIFT + AARCH64_STRIDE * (LAST_LEVEL - first_level - i)),
            .index_bits = (uint8_t)(i == 0 ? root_bits : AARCH64_STRIDE),
            .entry_bytes = 8,
            .blocks = last || (blocks && first_level + i > 0),
        };
    }
    return shape;
}

/* The parts of a span that entries of one level do not map whole. */
struct pieces {
    struct mxu_span piece[2];
    uint32_t count;
};

/* Adds the parts of a piece that need nodes below a level. */
static void add_pieces(struct pieces *to, struct mxu_span span, const struct mxu_table_level *level)
{
    uint64_t mask = (UINT64_C(1) << level->shift) - 1u;

    if (!level->blocks || (span.most_shift != 0 && level->shift > span.most_shift)) {
        to->piece[to->count++] = span;
        return;
    }
    if ((span.first & ~mask) == (span.last & ~mask)) {
        if ((span.first & mask) != 0 || (span.last & mask) != mask) {
            to->piece[to->count++] = span;
        }
        return;
    }
    if ((span.first & mask) != 0) {
        to->piece[to->count++] = (struct mxu_span){span.first, span.first | mask, span.most_shift, 0};
    }
    if ((span.last & mask) != mask) {
        to->piece[to->count++] = (struct mxu_span){span.last & ~mask, span.last, span.most_shift, 0};
    }
}

/* Counts the nodes of one span. last[i] is one more than the number of the node of level i that was counted
 * last. */
static void count_span(const struct mxu_table_shape *shape, struct mxu_span span, uint64_t *last,
                       struct mxu_table_need *need)
{
    struct pieces pieces = {{span}, 1};

    for (uint32_t i = 0; i + 1u < shape->levels && pieces.count > 0; i++) {
        struct pieces below = {.count = 0};
        uint32_t shift = shape->level[i].shift;

        for (uint32_t at = 0; at < pieces.count; at++) {
            add_pieces(&below, pieces.piece[at], &shape->level[i]);
        }
        for (uint32_t at = 0; at < below.count; at++) {
            uint64_t from = below.piece[at].first >> shift;
            uint64_t to = below.piece[at].last >> shift;

            from = from < last[i + 1u] ? last[i + 1u] : from;
            if (from <= to) {
                need->nodes[i + 1u] += (uint32_t)(to - from + 1u);
                last[i + 1u] = to + 1u;
            }
        }
        pieces = below;
    }
}

bool mxu_tables_needed(const struct mxu_table_shape *shape, const struct mxu_span *spans, uint32_t count,
                       struct mxu_table_need *need)
{
    uint64_t reach = UINT64_C(1) << (shape->level[0].shift + shape->level[0].index_bits);
    uint64_t page = UINT64_C(1) << shape->level[shape->levels - 1u].shift;
    uint64_t last[MXU_TABLE_MOST_LEVELS] = {0};

    *need = (struct mxu_table_need){.nodes = {count > 0}};
    for (uint32_t i = 0; i < count; i++) {
        if (spans[i].first > spans[i].last || spans[i].last >= reach || spans[i].first % page != 0 ||
            (spans[i].last + 1u) % page != 0 || (i > 0 && spans[i].first <= spans[i - 1u].last)) {
            return false;
        }
        count_span(shape, spans[i], last, need);
    }
    for (uint32_t i = 0; i < shape->levels; i++) {
        need->bytes += (uint64_t)need->nodes[i] * shape->level[i].entry_bytes << shape->level[i].index_bits;
    }
    return true;
}
