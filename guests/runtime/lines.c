// SPDX-License-Identifier: Apache-2.0
//
// The loop itself and CTR_EL0.DminLine.
#include "guests/runtime/lines.h"

#include <arch/sysreg.h>

uint64_t lines_bytes(void)
{
    return 4ull << (sysreg_read(CTR_EL0) >> 16 & 0xF);
}

void lines_touch(uint64_t start, uint64_t end, uint64_t line_bytes)
{
    for (uint64_t at = start; at < end; at += line_bytes) {
        volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)at;
        *word = *word + 1;
    }
}

void lines_write(uint64_t start, uint64_t end, uint64_t line_bytes)
{
    for (uint64_t at = start; at < end; at += line_bytes)
        *(volatile uint64_t *)(uintptr_t)at = 0;
}
