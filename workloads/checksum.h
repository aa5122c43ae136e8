// SPDX-License-Identifier: Apache-2.0
//
// The checksum of a workload's results: depends on every value and on their order. Integers are added as they
// are, floating-point values by their bits, since these are the same in each build.
#ifndef BULKHEAD_WORKLOADS_CHECKSUM_H
#define BULKHEAD_WORKLOADS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "guests/runtime/random.h"

static inline uint64_t checksum_add(uint64_t sum, uint64_t value)
{
    return random_mix((sum ^ value) + 0x9E3779B97F4A7C15ull);
}

static inline uint64_t checksum_bits(double value)
{
    union {
        double value;
        uint64_t bits;
    } both = {.value = value};

    return both.bits;
}

static inline uint64_t checksum_bytes(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        sum = checksum_add(sum, at[i]);
    return sum;
}

#endif
