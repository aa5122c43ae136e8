/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The order in which each policy evicts slots, as a ring. If only misses are visible, bit-PLRU takes the
 * slots in ascending order, but omits the slot that cleared all other bits: after the slots 0 to n - 2, slot
 * n - 2 must be omitted once; after 0 to n - 3 and n - 1, slot n - 1 must. Its ring therefore has two rounds
 * of n - 1 turns.
 */
#include "core/mxu_eviction.h"

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A number below `limit`. */
static uint32_t random_below(uint32_t *state, uint32_t limit)
{
    return (uint32_t)((uint64_t)next_random(state) * limit >> 32);
}

static uint32_t round_robin(uint32_t first, uint32_t count, struct mxu_turn *ring)
{
    for (uint32_t i = 0; i < count; i++) {
        ring[i].slot = (uint8_t)(first + i);
    }
    return count;
}

static uint32_t bit_plru(uint32_t first, uint32_t count, struct mxu_turn *ring)
{
    uint32_t all = (1u << count) - 1u;
    uint32_t bits = 0;
    uint32_t turns = 2u * (count - 1u);

    /* The first round takes all slots, and ends in the state in which the last round ends, so the rounds
     * after it repeat. */
    for (uint32_t i = 0; i < count + turns; i++) {
        uint32_t slot = (uint32_t)__builtin_ctz(~bits);

        bits |= 1u << slot;
        bits = bits == all ? 1u << slot : bits;
        ring[i].slot = (uint8_t)(first + slot);
    }
    return count + turns;
}

static uint32_t random(uint32_t first, uint32_t count, uint32_t *seed, struct mxu_turn *ring)
{
    uint32_t last;

    round_robin(first, count, ring);
    for (uint32_t i = count - 1u; i > 0; i--) {
        uint32_t other = random_below(seed, i + 1u);
        uint8_t slot = ring[i].slot;

        ring[i].slot = ring[other].slot;
        ring[other].slot = slot;
    }
    last = ring[count - 1u].slot;
    for (uint32_t i = count; i < MXU_RING_TURNS; i++) {
        uint32_t slot = first + random_below(seed, count - 1u);

        last = slot < last ? slot : slot + 1u;
        ring[i].slot = (uint8_t)last;
    }
    return MXU_RING_TURNS;
}

uint32_t mxu_eviction_ring(enum mxu_policy policy, uint32_t first, uint32_t count, uint32_t *seed,
                           struct mxu_turn ring[MXU_RING_TURNS])
{
    uint32_t again = 0; /* the turn that follows the last one */
    uint32_t turns;

    if (policy == MXU_ROUND_ROBIN || count == 1) {
        turns = round_robin(first, count, ring);
    } else if (policy == MXU_BIT_PLRU) {
        turns = bit_plru(first, count, ring);
        again = count; /* the first round, with all slots, does not repeat */
    } else {
        turns = random(first, count, seed, ring);
        again = count;
        /* Any two successive turns must name different slots, also the last turn and the one after it: the
         * ring is shortened until they do. */
        while (ring[turns - 1u].slot == ring[again].slot) {
            turns--;
        }
    }
    for (uint32_t i = 0; i < turns; i++) {
        ring[i].next = (uint8_t)(i + 1u < turns ? i + 1u : again);
    }
    return turns;
}
