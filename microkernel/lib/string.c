/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled with -fno-tree-loop-distribute-patterns: otherwise the compiler would turn these loops into calls
 * of the functions themselves.
 */
#include "microkernel/lib/string.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    char *out = to;
    const char *in = from;

    while (bytes-- > 0) {
        *out++ = *in++;
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    char *out = to;

    while (bytes-- > 0) {
        *out++ = (char)value;
    }
    return to;
}
