/* SPDX-License-Identifier: Apache-2.0
 *
 * The architecture-specific parts of the kernel's objects for the fake architecture: registers are plain
 * words.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_TYPES_H
#define BULKHEAD_MICROKERNEL_ARCH_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define ARCH_STACK_FLAGS 0u

#define ARCH_HELD_BYTES 0u

struct arch_context {
    uint32_t r[4];
    uint32_t number;
    uint32_t calls_again;
    bool is_started;
    bool has_left_stack;
};

struct arch_space {
    uint32_t mapped; /* number of mapped ranges */
    uint32_t refills;
};

#endif
