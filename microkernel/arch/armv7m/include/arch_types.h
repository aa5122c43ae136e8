/* SPDX-License-Identifier: Apache-2.0
 *
 * The architecture-specific parts of the kernel's objects for Armv7-M. entry.S uses the offsets.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_TYPES_H
#define BULKHEAD_MICROKERNEL_ARCH_TYPES_H

#include "core/mxu_regions.h"

/* An exception stores its frame on the stack, which must not fault. */
#define ARCH_STACK_FLAGS 1u /* MAP_STATIC */

/* Bytes of table nodes in locked cache ways. */
#define ARCH_HELD_BYTES 0u

#define ARCH_SAVED 8u /* r4 to r11 */

/* The frame that the processor stores on the thread's stack when it takes an exception. */
struct arch_frame {
    uint32_t r[4];
    uint32_t r12;
    uint32_t lr;
    uint32_t pc;
    uint32_t xpsr;
};

struct arch_context {
    struct arch_frame *frame; /* the process stack pointer */
    uint32_t saved[ARCH_SAVED];
};

struct arch_space {
    struct mxu_regions regions; /* begins with the register image that a context switch loads */
};

#endif
