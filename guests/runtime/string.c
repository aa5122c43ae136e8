// SPDX-License-Identifier: Apache-2.0
//
// Byte functions that the compiler may emit calls of. Compiled so that it does not turn the loops in here
// into calls of themselves; not part of a hosted build, which has a C library.
#include "guests/runtime/string.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    unsigned char *target = to;
    const unsigned char *source = from;

    for (size_t i = 0; i < bytes; i++)
        target[i] = source[i];
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *target = to;
    const unsigned char *source = from;

    if (target <= source)
        return memcpy(to, from, bytes);
    for (size_t i = bytes; i > 0; i--)
        target[i - 1] = source[i - 1];
    return to;
}

void *memset(void *to, int byte, size_t bytes)
{
    unsigned char *target = to;

    for (size_t i = 0; i < bytes; i++)
        target[i] = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const unsigned char *left = a;
    const unsigned char *right = b;

    for (size_t i = 0; i < bytes; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return 0;
}
