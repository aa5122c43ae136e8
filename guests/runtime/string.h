// SPDX-License-Identifier: Apache-2.0
//
// The few byte and text functions that a freestanding program needs: those that the compiler may call by
// itself, and comparison of texts. Used by everything in guests/.
#ifndef BULKHEAD_GUESTS_STRING_H
#define BULKHEAD_GUESTS_STRING_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

// Are two NUL-terminated texts the same?
static inline bool text_equal(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

#endif
