/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Which dynamic region a miss evicts (X4). An MPU does not report which regions are used, so a policy sees
 * only misses, and its choices do not depend on the ranges: they are a fixed sequence, prepared as a ring of
 * turns. Each miss takes the next turn, at the same cost for every policy.
 *
 * If there are at least two slots, two successive turns never have the same slot: the region that an
 * instruction has just loaded is not evicted by its next miss. The first turns of a ring use each slot once,
 * in some order.
 */
#ifndef BULKHEAD_CORE_MXU_EVICTION_H
#define BULKHEAD_CORE_MXU_EVICTION_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mxu_policy {
    MXU_ROUND_ROBIN,
    MXU_RANDOM, /* MXU_RING_TURNS choices determined by a seed, repeated */
    /* evicts the lowest slot whose bit is clear, and sets the bit; setting the last clear bit clears all
     * others */
    MXU_BIT_PLRU,
};

#define MXU_RING_TURNS 64u

struct mxu_turn {
    uint8_t slot;
    uint8_t next; /* index of the next turn */
};

/* Writes the turns of a policy for slots [first, first + count), 0 < count <= 16; returns how many there are,
 * at most MXU_RING_TURNS. *seed, which is not 0, is advanced; only MXU_RANDOM uses it. */
uint32_t mxu_eviction_ring(enum mxu_policy policy, uint32_t first, uint32_t count, uint32_t *seed,
                           struct mxu_turn ring[MXU_RING_TURNS]);

#ifdef __cplusplus
}
#endif

#endif
