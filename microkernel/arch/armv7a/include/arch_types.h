/* SPDX-License-Identifier: Apache-2.0
 *
 * The architecture-specific parts of the kernel's objects for Armv7-A. entry.S uses the offsets.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_TYPES_H
#define BULKHEAD_MICROKERNEL_ARCH_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* Exceptions do not use threads' stacks, so stacks may be in any memory. */
#define ARCH_STACK_FLAGS 0u

/* Table nodes in locked ways of the outer cache, a PL310 of 512 KiB with eight ways: bytes of one way, and of
 * all ways that the kernel can lock. One way remains for everything else. */
#define ARCH_WAY_BYTES  0x10000u
#define ARCH_MOST_WAYS  7u
#define ARCH_HELD_BYTES (ARCH_MOST_WAYS * ARCH_WAY_BYTES)

/* While the thread runs, the kernel's stack pointer is at the end of this structure, so that an exception
 * fills it. */
struct arch_context {
    uint32_t sp;
    uint32_t lr;
    uint32_t r[13];
    uint32_t pc;
    uint32_t psr;
};

struct arch_space {
    uint32_t ttbr0; /* physical address of the first-level table, and attributes of table walks */
    uint32_t asid;
    /* physical address of the first free second-level table; each contains the address of the next */
    uint32_t free_tables;
    uint8_t locked; /* lockable TLB entries that the space holds, one bit each */
};

#endif
