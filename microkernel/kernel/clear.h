/* SPDX-License-Identifier: Apache-2.0
 *
 * Clears whole words. It is a loop because the kernel has no C library.
 */
#ifndef BULKHEAD_MICROKERNEL_CLEAR_H
#define BULKHEAD_MICROKERNEL_CLEAR_H

#include <stdint.h>

static inline void clear_words(void *at, uint32_t bytes)
{
    volatile uint32_t *word = at;

    for (uint32_t i = 0; i < bytes / sizeof *word; i++) {
        word[i] = 0;
    }
}

#endif
