/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the compiler may call in any code, with or without a C library.
 */
#ifndef BULKHEAD_MICROKERNEL_STRING_H
#define BULKHEAD_MICROKERNEL_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#endif
