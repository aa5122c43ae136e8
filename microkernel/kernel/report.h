/* SPDX-License-Identifier: Apache-2.0
 *
 * Console lines of the kernel, one for each component that it kills: the component, the kind of access,
 * address and instruction, and the owner of that memory.
 */
#ifndef BULKHEAD_MICROKERNEL_REPORT_H
#define BULKHEAD_MICROKERNEL_REPORT_H

#include "microkernel/kernel/kernel.h"

enum violation_access {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_DATA, /* read or write: the hardware does not say which */
    ACCESS_FETCH,
};

struct violation {
    const char *what; /* "violation", "live-lock", "stack overflow", "undefined instruction" ... */
    uint32_t address;
    uint32_t pc; /* 0: unknown */
    enum violation_access access;
    bool has_address;
};

/* Reports the violation, kills the component of the running thread, and returns the thread to run next. */
struct thread *report_violation(struct thread *current, const struct violation *violation);

/* The same for a stack pointer outside of the stack. */
struct thread *report_stack(struct thread *current);

/* Writes a line of the kernel itself, before it halts. */
void report_line(const char *text);

#endif
