/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Integers of 128 bits, for exact comparison of products and quotients. 64-bit machines only. Works without a
 * run-time library, which the compiler's own division of this type would need.
 */
#ifndef BULKHEAD_CORE_WIDE_H
#define BULKHEAD_CORE_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 wide_t;

static inline wide_t wide_product(uint64_t a, uint64_t b)
{
    return (wide_t)a * b;
}

/* Computes one 32-bit digit of a quotient: (rest : next) / divisor, with rest < divisor, the top bit of
 * divisor set, and next < 2^32. `*rest` becomes the remainder (Knuth, The Art of Computer Programming 2,
 * 4.3.1, algorithm D). */
static inline uint64_t wide_digit(uint64_t *rest, uint64_t next, uint64_t divisor)
{
    uint64_t high = divisor >> 32;
    uint64_t guess = *rest / high;
    uint64_t left = *rest % high;

    while (guess >> 32 != 0 || guess * (uint32_t)divisor > (left << 32 | next)) { /* at most twice */
        guess--;
        left += high;
        if (left >> 32 != 0) {
            break;
        }
    }
    *rest = (*rest << 32) + next - guess * divisor;
    return guess;
}

/* (high:low) / divisor with high < divisor, so that the quotient fits in 64 bits. */
static inline uint64_t wide_divide_step(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *remainder)
{
    uint32_t shift = (uint32_t)__builtin_clzll(divisor);
    uint64_t rest = shift == 0 ? high : high << shift | low >> (64 - shift);
    uint64_t quotient;

    low <<= shift;
    divisor <<= shift;
    quotient = wide_digit(&rest, low >> 32, divisor) << 32;
    quotient |= wide_digit(&rest, (uint32_t)low, divisor);
    *remainder = rest >> shift;
    return quotient;
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
