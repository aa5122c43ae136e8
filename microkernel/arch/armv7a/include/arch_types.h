/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel's objects have of Armv7-A. Offsets are known to entry.S.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_TYPES_H
#define BULKHEAD_MICROKERNEL_ARCH_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* Stacks are not used at exceptions, so they may be anywhere. */
#define ARCH_STACK_FLAGS 0u

/* While the thread runs, the kernel's stack pointer is at the end of this, so that an exception fills it. */
struct arch_context {
    uint32_t sp;
    uint32_t lr;
    uint32_t r[13];
    uint32_t pc;
    uint32_t psr;
};

struct arch_space {
    uint32_t ttbr0; /* physical address of the first-level table, and attributes of walks */
    uint32_t asid;
    uint32_t free_tables; /* physical address of the first free second-level table; each has the next one's */
    uint8_t locked;       /* lockable TLB entries that it has, one bit each */
};

#endif
