/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Splits time into pieces between two neighbouring D' - J' of a set, in which the blocking Q is constant, and
 * finds pieces that need no check of their points: those where a straight line above the demand stays below
 * t. For most sets only the first few pieces remain. Only the test calls this (flow_test.h).
 */
#ifndef BULKHEAD_CORE_FLOW_PIECES_H
#define BULKHEAD_CORE_FLOW_PIECES_H

#include "core/flow_load.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece begins at the D' - J' of task order[i] and ends at the next one. */
struct flow_pieces {
    uint32_t count;            /* tasks sorted so far */
    uint8_t order[FLOW_MAX];   /* task indexes, sorted by D' - J' */
    bool passed[FLOW_MAX];     /* in piece i the demand never exceeds the time */
    wide_t blocking[FLOW_MAX]; /* Q b of piece i */
};

/* Sorts one more task into the order and marks no piece as passed. Returns true if it was the last task. */
bool flow_pieces_sort_step(struct flow_pieces *pieces, const struct flow_set *set);

/* Marks the pieces that certainly pass, with the rates and the bandwidth of a load with U' <= 1. */
void flow_pieces_pass(struct flow_pieces *pieces, const struct flow_load *load);

/* The last point of time, at most t, in a piece that is not passed. 0: there is none. */
uint64_t flow_pieces_left(const struct flow_pieces *pieces, const struct flow_set *set, uint64_t t);

#ifdef __cplusplus
}
#endif

#endif
