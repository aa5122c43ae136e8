// SPDX-License-Identifier: Apache-2.0
//
// Text formatting into a buffer, a subset of printf: %c %s %d %i %u %x %p %% with flags `0` and `-`, width,
// and lengths `l`, `ll`, `z`. No floating point, no allocation. Output that does not fit is dropped and
// recorded in `truncated`, so that no report is printed incomplete by mistake.
#ifndef BULKHEAD_GUESTS_FORMAT_H
#define BULKHEAD_GUESTS_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

// A text being built. `buffer` is always NUL-terminated (capacity is at least 1).
struct text {
    char *buffer;
    size_t capacity;
    size_t length;
    bool truncated;
};

void text_start(struct text *text, char *buffer, size_t capacity);

__attribute__((format(printf, 2, 3))) void text_append(struct text *text, const char *format, ...);

__attribute__((format(printf, 2, 0))) void text_append_list(struct text *text, const char *format,
                                                            va_list arguments);

#endif
