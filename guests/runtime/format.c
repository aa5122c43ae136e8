// SPDX-License-Identifier: Apache-2.0
//
// The formatter behind console_printf() and the reports of the programs. An unknown conversion is copied as
// it stands: the compiler has checked the formats already.
#include "guests/runtime/format.h"

#include <stdint.h>

struct conversion {
    bool zero_padded;
    bool left;
    size_t width;
    unsigned longs; // 1 or more: 64 bits
};

void text_start(struct text *text, char *buffer, size_t capacity)
{
    text->buffer = buffer;
    text->capacity = capacity;
    text->length = 0;
    text->truncated = false;
    buffer[0] = 0;
}

static void append_char(struct text *text, char c)
{
    if (text->length + 1 >= text->capacity) {
        text->truncated = true;
        return;
    }
    text->buffer[text->length++] = c;
    text->buffer[text->length] = 0;
}

static void append_repeated(struct text *text, char c, size_t count)
{
    while (count-- > 0)
        append_char(text, c);
}

// `sign` (0: none) and the body, padded to the width.
static void append_field(struct text *text, const struct conversion *how, char sign, const char *body,
                         size_t length)
{
    size_t used = length + (sign != 0);
    size_t padding = how->width > used ? how->width - used : 0;

    if (!how->left && !how->zero_padded)
        append_repeated(text, ' ', padding);
    if (sign != 0)
        append_char(text, sign);
    if (!how->left && how->zero_padded)
        append_repeated(text, '0', padding);
    for (size_t i = 0; i < length; i++)
        append_char(text, body[i]);
    if (how->left)
        append_repeated(text, ' ', padding);
}

static void append_number(struct text *text, const struct conversion *how, char sign, uint64_t number,
                          unsigned base)
{
    char digits[20]; // 2^64 - 1 in base 10
    size_t start = sizeof(digits);

    do {
        digits[--start] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    append_field(text, how, sign, digits + start, sizeof(digits) - start);
}

static void append_string(struct text *text, struct conversion *how, const char *string)
{
    size_t length = 0;

    if (string == NULL)
        string = "(null)";
    while (string[length] != 0)
        length++;
    how->zero_padded = false;
    append_field(text, how, 0, string, length);
}

static const char *parse_conversion(const char *format, struct conversion *how)
{
    *how = (struct conversion){0};
    for (;; format++) {
        if (*format == '0') {
            how->zero_padded = true;
        } else if (*format == '-') {
            how->left = true;
        } else {
            break;
        }
    }
    for (; *format >= '0' && *format <= '9'; format++)
        how->width = how->width * 10 + (size_t)(*format - '0');
    for (; *format == 'l' || *format == 'z'; format++)
        how->longs++;
    return format;
}

void text_append_list(struct text *text, const char *format, va_list arguments)
{
    struct conversion how;

    for (; *format != 0; format++) {
        if (*format != '%') {
            append_char(text, *format);
            continue;
        }
        format = parse_conversion(format + 1, &how);
        switch (*format) {
        case 'c':
            append_char(text, (char)va_arg(arguments, int));
            break;
        case 's':
            append_string(text, &how, va_arg(arguments, const char *));
            break;
        case 'd':
        case 'i': {
            int64_t number = how.longs ? va_arg(arguments, long) : va_arg(arguments, int);
            append_number(text, &how, number < 0 ? '-' : 0, number < 0 ? -(uint64_t)number : (uint64_t)number,
                          10);
            break;
        }
        case 'u':
        case 'x': {
            uint64_t number = how.longs ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned);
            append_number(text, &how, 0, number, *format == 'x' ? 16 : 10);
            break;
        }
        case 'p':
            how = (struct conversion){.zero_padded = true, .width = 16};
            append_number(text, &how, 0, (uintptr_t)va_arg(arguments, void *), 16);
            break;
        case 0:
            return;
        default:
            append_char(text, *format);
        }
    }
}

void text_append(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_append_list(text, format, arguments);
    va_end(arguments);
}
