// SPDX-License-Identifier: Apache-2.0
//
// The memory and text functions that a freestanding program needs: those that the compiler may call, and
// comparison of texts. Used by everything in guests/.
#ifndef BULKHEAD_GUESTS_STRING_H
#define BULKHEAD_GUESTS_STRING_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

// Whether two NUL-terminated texts are equal.
static inline bool text_equal(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

#endif
