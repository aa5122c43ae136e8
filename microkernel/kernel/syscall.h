/* SPDX-License-Identifier: Apache-2.0
 *
 * The door for system calls: arguments are read once, from the saved registers, and checked against the
 * caller's capabilities.
 */
#ifndef BULKHEAD_MICROKERNEL_SYSCALL_H
#define BULKHEAD_MICROKERNEL_SYSCALL_H

#include "microkernel/kernel/kernel.h"

/* Does what the running thread asks, and returns the thread that runs next. */
struct thread *kernel_syscall(struct thread *current);

#endif
