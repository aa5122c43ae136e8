/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * In a piece, eta_i(t) <= (t - first_i + P'_i) / P'_i for each task that is due in it at all, so that the
 * demand is below lead + Q + sum U'_i (t - first_i + P'_i). Because U' <= 1, this line rises no faster than
 * t: if it is below t where the piece begins, it is below t in the whole piece.
 */
#include "core/flow_pieces.h"
#include "core/flow_demand.h"
#include "core/flow_pause.h"

_Static_assert(FLOW_MAX <= UINT8_MAX, "task numbers fit in bytes");

bool flow_pieces_sort_step(struct flow_pieces *pieces, const struct flow_set *set)
{
    uint32_t place = pieces->count;
    uint64_t first = set->tasks[place].first;

    pieces->passed[place] = false;
    for (; place != 0 && set->tasks[pieces->order[place - 1]].first > first; place--) {
        flow_pause();
        pieces->order[place] = pieces->order[place - 1];
    }
    pieces->order[place] = (uint8_t)pieces->count;
    pieces->count++;
    return pieces->count == set->count;
}

/* Fills in the blocking of all pieces, starting with the last piece, in which no task blocks. */
static void fill_blocking(struct flow_pieces *pieces, const struct flow_set *set, uint64_t bytes_per_s)
{
    wide_t chunk =
        wide_product(set->dma_fixed, bytes_per_s) + wide_product(set->chunk_bytes, FLOW_HALF_NS_PER_S);
    wide_t longest = 0;

    for (uint32_t i = set->count; i-- > 0;) {
        const struct flow_task *task = &set->tasks[pieces->order[i]];
        wide_t last = wide_product(task->block_fixed, bytes_per_s) +
                      wide_product(task->block_bytes, FLOW_HALF_NS_PER_S);

        flow_pause();
        pieces->blocking[i] = longest;
        longest = last > longest ? last : longest;
        longest = task->several && chunk > longest ? chunk : longest;
    }
}

void flow_pieces_pass(struct flow_pieces *pieces, const struct flow_load *load)
{
    const struct flow_set *set = load->set;
    uint64_t bytes_per_s = load->bytes_per_s;
    uint64_t slope = 0; /* sum U'_i b */
    wide_t above;       /* lead b + sum U'_i b P'_i */
    wide_t below = 0;   /* sum U'_i b first_i */

    fill_blocking(pieces, set, bytes_per_s);
    above = flow_times_bandwidth(set->lead_bytes, set->lead_fixed, bytes_per_s);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t number = pieces->order[i];
        const struct flow_task *task = &set->tasks[number];
        uint64_t rate = flow_load_rate(load, number);

        flow_pause();
        slope += rate;
        above += wide_product(rate, task->period);
        below += wide_product(rate, task->first);
        pieces->passed[i] =
            slope <= bytes_per_s && pieces->blocking[i] + wide_product(slope, task->first) + above <=
                                        wide_product(bytes_per_s, task->first) + below;
    }
}

uint64_t flow_pieces_left(const struct flow_pieces *pieces, const struct flow_set *set, uint64_t t)
{
    for (uint32_t i = set->count; i-- > 0;) {
        uint64_t first = set->tasks[pieces->order[i]].first;

        flow_pause();
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
