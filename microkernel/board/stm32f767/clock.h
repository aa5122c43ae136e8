/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that each component may read through the second of the system's regions: TIM2 at 108 MHz.
 */
#ifndef BULKHEAD_MICROKERNEL_CLOCK_H
#define BULKHEAD_MICROKERNEL_CLOCK_H

#include "board.h"
#include <stdint.h>

/* Counts up. */
static inline uint32_t clock_read(void)
{
    return *(const volatile uint32_t *)(uintptr_t)(BOARD_TIMER_FIRST + 4u);
}

#endif
