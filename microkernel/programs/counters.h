/* SPDX-License-Identifier: Apache-2.0
 *
 * Event counters of a Cortex-A9 (DDI 0388I, chapter 11), which the kernel makes accessible to components.
 */
#ifndef BULKHEAD_MICROKERNEL_COUNTERS_H
#define BULKHEAD_MICROKERNEL_COUNTERS_H

#include <stdint.h>

/* Cycles that data accesses waited: for walks, and for the main TLB after a miss of the micro-TLB. */
#define WALK_STALL 0x83u
#define MAIN_STALL 0x85u

static inline void counters_select(uint32_t number)
{
    __asm__ volatile("mcr p15, 0, %0, c9, c12, 5" : : "r"(number) : "memory");
}

/* Makes the counter count the event from now on. */
static inline void counters_count(uint32_t number, uint32_t event)
{
    counters_select(number);
    __asm__ volatile("mcr p15, 0, %0, c9, c13, 1" : : "r"(event) : "memory");
    __asm__ volatile("mcr p15, 0, %0, c9, c12, 1" : : "r"(1u << number) : "memory");
}

static inline uint32_t counters_read(uint32_t number)
{
    uint32_t value;

    counters_select(number);
    __asm__ volatile("mrc p15, 0, %0, c9, c13, 2" : "=r"(value) : : "memory");
    return value;
}

#endif
