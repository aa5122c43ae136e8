/* SPDX-License-Identifier: Apache-2.0
 *
 * Text formatting for log lines and register dumps: a small subset of printf, without allocation.
 */
#ifndef BULKHEAD_FORMAT_H
#define BULKHEAD_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Formats into `out` (always terminated if `size` > 0) and returns the length that was written without the
 * terminator. Conversions: %s %c %d %u %x with optional l (64 bit), zero flag and width; %%. */
size_t format_text_va(char *out, size_t size, const char *format, va_list arguments);
size_t format_text(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
