/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Integers of 128 bits, for exact comparison of products and quotients. 64-bit machines only. Needs no
 * run-time library: the compiler's own division of this type would.
 */
#ifndef BULKHEAD_CORE_WIDE_H
#define BULKHEAD_CORE_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 wide_t;

static inline wide_t wide_product(uint64_t a, uint64_t b)
{
    return (wide_t)a * b;
}

/* (high:low) / divisor with high < divisor: the quotient fits. Schoolbook division in digits of 32 bits
 * (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D). */
static inline uint64_t wide_divide_step(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *remainder)
{
    const uint64_t base = 1ull << 32;
    uint32_t shift = (uint32_t)__builtin_clzll(divisor);
    uint64_t d = divisor << shift;
    uint64_t quotient[2];
    wide_t rest = (((wide_t)high << 64) | low) << shift;

    for (uint32_t i = 0; i < 2; i++) {
        uint64_t top = (uint64_t)(rest >> (64 - 32 * i)); /* at most 64 bits: what is left is below d */
        uint64_t guess = top / (d >> 32);
        wide_t part;

        guess = guess < base ? guess : base - 1;
        part = wide_product(guess, d) << (32 - 32 * i);
        while (part > rest) { /* at most twice */
            guess--;
            part -= (wide_t)d << (32 - 32 * i);
        }
        rest -= part;
        quotient[i] = guess;
    }
    *remainder = (uint64_t)rest >> shift;
    return quotient[0] << 32 | quotient[1];
}

/* value / divisor, rounded down; the divisor is not 0. */
static inline wide_t wide_divide(wide_t value, uint64_t divisor, uint64_t *remainder)
{
    uint64_t high = (uint64_t)(value >> 64);
    uint64_t quotient = high / divisor;
    uint64_t low = wide_divide_step(high % divisor, (uint64_t)value, divisor, remainder);

    return (wide_t)quotient << 64 | low;
}

#endif
