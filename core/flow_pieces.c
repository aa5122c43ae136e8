/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * In a piece, eta_i(t) <= (t - first_i + P'_i) / P'_i for the tasks that are due in it at all, so that the
 * demand is below Q + sum U'_i (t - first_i + P'_i). This line rises no faster than t, because U' <= 1: if it
 * is below t where the piece begins, it is in all of it.
 */
#include "core/flow_pieces.h"
#include "core/flow_load.h"
#include "core/wide.h"

_Static_assert(FLOW_MAX <= UINT8_MAX, "numbers of tasks are bytes");

void flow_pieces_init(struct flow_pieces *pieces, const struct flow_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t first = set->tasks[i].first;
        uint32_t place = i;

        for (; place != 0 && set->tasks[pieces->order[place - 1]].first > first; place--) {
            pieces->order[place] = pieces->order[place - 1];
        }
        pieces->order[place] = (uint8_t)i;
        pieces->passed[i] = false;
    }
}

/* Q b of every piece, from the last, where it is 0. */
static void fill_blocking(const struct flow_pieces *pieces, const struct flow_set *set, uint64_t bytes_per_s,
                          wide_t blocking[FLOW_MAX])
{
    wide_t chunk =
        wide_product(set->dma_fixed, bytes_per_s) + wide_product(set->chunk_bytes, FLOW_HALF_NS_PER_S);
    wide_t longest = 0;

    for (uint32_t i = set->count; i-- > 0;) {
        const struct flow_task *task = &set->tasks[pieces->order[i]];
        wide_t last = wide_product(task->block_fixed, bytes_per_s) +
                      wide_product(task->block_bytes, FLOW_HALF_NS_PER_S);

        blocking[i] = longest;
        longest = last > longest ? last : longest;
        longest = task->several && chunk > longest ? chunk : longest;
    }
}

void flow_pieces_pass(struct flow_pieces *pieces, const struct flow_set *set, uint64_t bytes_per_s)
{
    uint64_t rates[FLOW_MAX];
    wide_t blocking[FLOW_MAX];
    uint64_t slope = 0; /* sum U'_i b */
    wide_t above = 0;   /* sum U'_i b P'_i */
    wide_t below = 0;   /* sum U'_i b first_i */

    flow_load_rates(set, bytes_per_s, rates);
    fill_blocking(pieces, set, bytes_per_s, blocking);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t number = pieces->order[i];
        const struct flow_task *task = &set->tasks[number];

        slope += rates[number];
        above += wide_product(rates[number], task->period);
        below += wide_product(rates[number], task->first);
        pieces->passed[i] = slope <= bytes_per_s && blocking[i] + wide_product(slope, task->first) + above <=
                                                        wide_product(bytes_per_s, task->first) + below;
    }
}

uint64_t flow_pieces_left(const struct flow_pieces *pieces, const struct flow_set *set, uint64_t t)
{
    for (uint32_t i = set->count; i-- > 0;) {
        uint64_t first = set->tasks[pieces->order[i]].first;

        if (first > t) {
            continue;
        }
        if (!pieces->passed[i]) {
            return t;
        }
        t = first - 1;
    }
    return 0;
}
