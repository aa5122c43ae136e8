/* SPDX-License-Identifier: Apache-2.0
 *
 * The few functions of <string.h> that the compiler may call in a freestanding program. Word by word where
 * both sides are aligned: with the MMU off unaligned accesses fault.
 */
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;

    if ((((uintptr_t)to | (uintptr_t)from) & 7) == 0) {
        for (; bytes >= 16; bytes -= 16, out += 16, in += 16) {
            uint64_t low = ((const uint64_t *)(const void *)in)[0];
            uint64_t high = ((const uint64_t *)(const void *)in)[1];

            ((uint64_t *)(void *)out)[0] = low;
            ((uint64_t *)(void *)out)[1] = high;
        }
    }
    while (bytes-- > 0) {
        *out++ = *in++;
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *out = to;
    uint64_t word = (uint8_t)value * 0x0101010101010101ull;

    if (((uintptr_t)to & 7) == 0) {
        for (; bytes >= 8; bytes -= 8, out += 8) {
            *(uint64_t *)(void *)out = word;
        }
    }
    while (bytes-- > 0) {
        *out++ = (uint8_t)value;
    }
    return to;
}
