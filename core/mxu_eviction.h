/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Which dynamic region a miss evicts (X4). An MPU does not tell which regions are used, so a policy sees
 * misses alone, and its choices do not depend on the ranges: they are a sequence, which is prepared as a ring
 * of turns. At a miss the next turn is taken, at the same cost for each policy.
 *
 * No two turns that follow each other have the same slot, if there are two: what an instruction has just
 * loaded is not what its next miss evicts. The first turns of a ring have each slot once, in some order.
 */
#ifndef BULKHEAD_CORE_MXU_EVICTION_H
#define BULKHEAD_CORE_MXU_EVICTION_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mxu_policy {
    MXU_ROUND_ROBIN,
    MXU_RANDOM,   /* MXU_RING_TURNS choices that a seed determines, again and again */
    MXU_BIT_PLRU, /* the lowest slot whose bit is clear; its bit is set, and the last one that is set clears
                     all others */
};

#define MXU_RING_TURNS 64u

struct mxu_turn {
    uint8_t slot;
    uint8_t next; /* turn */
};

/* Writes the turns for slots [first, first + count), count > 0, of a policy; returns how many there are, at
 * most MXU_RING_TURNS. *seed, which is not 0, goes on; only MXU_RANDOM uses it. count <= 16. */
uint32_t mxu_eviction_ring(enum mxu_policy policy, uint32_t first, uint32_t count, uint32_t *seed,
                           struct mxu_turn ring[MXU_RING_TURNS]);

#ifdef __cplusplus
}
#endif

#endif
