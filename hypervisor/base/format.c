/* SPDX-License-Identifier: Apache-2.0
 *
 * A small printf for log lines and dumps, called by the console and by reports. Never allocates, never writes
 * beyond the end, and copies unknown conversions unchanged.
 */
#include "base/format.h"

#include <stdbool.h>
#include <stdint.h>

struct output {
    char *text;
    size_t size; /* including the terminator; 0: write nothing */
    size_t length;
};

static void put(struct output *out, char character)
{
    if (out->length + 1 < out->size) {
        out->text[out->length++] = character;
    }
}

static void put_number(struct output *out, uint64_t value, uint32_t base, bool negative, char pad,
                       uint32_t width)
{
    char digits[20];
    uint32_t count = 0;
    uint32_t length;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    length = count + negative;
    if (negative && pad == '0') {
        put(out, '-');
    }
    for (; length < width; length++) {
        put(out, pad);
    }
    if (negative && pad != '0') {
        put(out, '-');
    }
    while (count != 0) {
        put(out, digits[--count]);
    }
}

static void put_text(struct output *out, const char *text, uint32_t width)
{
    uint32_t length = 0;

    for (; *text != '\0'; length++) {
        put(out, *text++);
    }
    for (; length < width; length++) {
        put(out, ' ');
    }
}

size_t format_text_va(char *text, size_t size, const char *format, va_list arguments)
{
    struct output out = {.text = text, .size = size};

    while (*format != '\0') {
        const char *start = format;
        uint32_t width = 0;
        bool is_long = false;
        char pad = ' ';

        if (*format++ != '%') {
            put(&out, *start);
            continue;
        }
        if (*format == '0') {
            pad = '0';
        }
        while (*format >= '0' && *format <= '9') {
            width = width * 10 + (uint32_t)(*format++ - '0');
        }
        while (*format == 'l') {
            is_long = true;
            format++;
        }
        switch (*format) {
        case 'd': {
            int64_t value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);

            put_number(&out, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, value < 0, pad, width);
            break;
        }
        case 'u':
        case 'x':
            put_number(&out, is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                       *format == 'x' ? 16 : 10, false, pad, width);
            break;
        case 's':
            put_text(&out, va_arg(arguments, const char *), width);
            break;
        case 'c':
            put(&out, (char)va_arg(arguments, int));
            break;
        case '%':
            put(&out, '%');
            break;
        default:
            put(&out, '%'); /* the rest is copied as text */
            format = start + 1;
            continue;
        }
        format++;
    }
    if (size > 0) {
        text[out.length] = '\0';
    }
    return out.length;
}

size_t format_text(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    size_t length;

    va_start(arguments, format);
    length = format_text_va(text, size, format, arguments);
    va_end(arguments);
    return length;
}
