/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The pieces of time between two neighbouring D' - J' of a set, in which the blocking Q is constant, and
 * those of them that need no look at their points: where a straight line above the demand stays below t. With
 * most sets only the first few pieces are left to the test (flow_test.h), the only caller.
 */
#ifndef BULKHEAD_CORE_FLOW_PIECES_H
#define BULKHEAD_CORE_FLOW_PIECES_H

#include "core/flow_load.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece begins at the D' - J' of task order[i] and ends at the next one. */
struct flow_pieces {
    uint32_t count;            /* tasks that are sorted */
    uint8_t order[FLOW_MAX];   /* by D' - J' */
    bool passed[FLOW_MAX];     /* piece i is in order */
    wide_t blocking[FLOW_MAX]; /* Q b of piece i */
};

/* Sorts one task more in, of which no piece is passed. True: it was the last. */
bool flow_pieces_sort_step(struct flow_pieces *pieces, const struct flow_set *set);

/* Finds the pieces that are in order for certain, with the rates and the bandwidth of a load that is not
 * above 1. */
void flow_pieces_pass(struct flow_pieces *pieces, const struct flow_load *load);

/* The last time of a piece that is not passed, and not after t. 0: there is none. */
uint64_t flow_pieces_left(const struct flow_pieces *pieces, const struct flow_set *set, uint64_t t);

#ifdef __cplusplus
}
#endif

#endif
