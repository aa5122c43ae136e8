// SPDX-License-Identifier: Apache-2.0
//
// Pseudorandom numbers from a seed; the same seed gives the same numbers. SplitMix64 (Steele, Lea, Flood:
// "Fast splittable pseudorandom number generators", OOPSLA 2014). No global state.
#ifndef BULKHEAD_GUESTS_RANDOM_H
#define BULKHEAD_GUESTS_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

// Hash of a number.
static inline uint64_t random_mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ value >> 27) * 0x94D049BB133111EBull;
    return value ^ value >> 31;
}

static inline uint64_t random_next(struct random *random)
{
    random->state += 0x9E3779B97F4A7C15ull;
    return random_mix(random->state);
}

// Returns 0 to `limit` - 1, nearly uniformly distributed; 0 for a limit of 0.
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
    return limit != 0 ? random_next(random) % limit : 0;
}

#endif
