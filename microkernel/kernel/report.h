/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines that the kernel writes on the console, one for each component that it kills: who, what access, to
 * which address, by which instruction, and whose memory that is.
 */
#ifndef BULKHEAD_MICROKERNEL_REPORT_H
#define BULKHEAD_MICROKERNEL_REPORT_H

#include "microkernel/kernel/kernel.h"

enum violation_access {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_DATA, /* the hardware does not say which */
    ACCESS_FETCH,
};

struct violation {
    const char *what; /* "violation", "live-lock", "stack overflow", "undefined instruction" ... */
    uint32_t address;
    uint32_t pc; /* 0: not known */
    enum violation_access access;
    bool has_address;
};

/* Reports it, kills the component of the running thread, and returns the thread that runs next. */
struct thread *report_violation(struct thread *current, const struct violation *violation);

/* The same, where the stack pointer has left the stack. */
struct thread *report_stack(struct thread *current);

/* A line of the kernel's own, before it halts. */
void report_line(const char *text);

#endif
