/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock that each component may read: the processor's cycle counter.
 */
#ifndef BULKHEAD_MICROKERNEL_CLOCK_H
#define BULKHEAD_MICROKERNEL_CLOCK_H

#include <stdint.h>

/* Any component can set it, because PMUSERENR has no read-only access. */
#define CLOCK_CAN_BE_SET

/* Counts up. */
static inline uint32_t clock_read(void)
{
    uint32_t value;

    __asm__ volatile("mrc p15, 0, %0, c9, c13, 0" : "=r"(value));
    return value;
}

#endif
