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

/* Table nodes in locked ways of the outer cache, a PL310 of 512 KiB with eight ways: bytes of one, and of all
 * that the kernel can hold. One stays for everything else. */
#define ARCH_WAY_BYTES  0x10000u
#define ARCH_MOST_WAYS  7u
#define ARCH_HELD_BYTES (ARCH_MOST_WAYS * ARCH_WAY_BYTES)

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
