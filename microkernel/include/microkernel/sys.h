/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls for components. One instruction; nothing is passed in memory.
 */
#ifndef BULKHEAD_MICROKERNEL_SYS_H
#define BULKHEAD_MICROKERNEL_SYS_H

#include "microkernel/include/microkernel/abi.h"
#include <stdint.h>

struct sys_words {
    uint32_t word[4]; /* r0 to r3 */
};

static inline struct sys_words sys_call(enum sys_number number, uint32_t slot, uint32_t first,
                                        uint32_t second, uint32_t third)
{
    register uint32_t r0 __asm__("r0") = slot;
    register uint32_t r1 __asm__("r1") = first;
    register uint32_t r2 __asm__("r2") = second;
    register uint32_t r3 __asm__("r3") = third;
    register uint32_t r12 __asm__("r12") = (uint32_t)number;

    __asm__ volatile("svc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : "r"(r12) : "memory");
    return (struct sys_words){{r0, r1, r2, r3}};
}

/* For calls that answer only a status. */
static inline enum sys_status sys_do(enum sys_number number, uint32_t slot, uint32_t first, uint32_t second,
                                     uint32_t third)
{
    return (enum sys_status)sys_call(number, slot, first, second, third).word[0];
}

#endif
