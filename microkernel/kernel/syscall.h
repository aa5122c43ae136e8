/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry of system calls: arguments are read once, from the saved registers, and checked against the caller's
 * capabilities.
 */
#ifndef BULKHEAD_MICROKERNEL_SYSCALL_H
#define BULKHEAD_MICROKERNEL_SYSCALL_H

#include "microkernel/kernel/kernel.h"

/* Executes the system call of the running thread, and returns the thread to run next. */
struct thread *kernel_syscall(struct thread *current);

#endif
