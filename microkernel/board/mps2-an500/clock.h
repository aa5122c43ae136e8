/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that each component may read through the second of the system's regions: CMSDK timer 0.
 */
#ifndef BULKHEAD_MICROKERNEL_CLOCK_H
#define BULKHEAD_MICROKERNEL_CLOCK_H

#include "board.h"
#include <stdint.h>

#define CLOCK_PERIOD_NS 40u

/* Counts up. */
static inline uint32_t clock_read(void)
{
    return UINT32_MAX - *(const volatile uint32_t *)(uintptr_t)(BOARD_TIMER_FIRST + 4u);
}

#endif
