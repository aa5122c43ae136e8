/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of a thread that is in the kernel, which are saved in the thread.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_INLINE_H
#define BULKHEAD_MICROKERNEL_ARCH_INLINE_H

#include "microkernel/kernel/kernel.h"

#define SVC_BYTES 4u

static inline uint32_t arch_argument(const struct thread *thread, uint32_t index)
{
    return thread->context.r[index];
}

static inline void arch_answer(struct thread *thread, uint32_t index, uint32_t value)
{
    thread->context.r[index] = value;
}

static inline uint32_t arch_number(const struct thread *thread)
{
    return thread->context.r[12];
}

/* Makes the thread repeat its system call when it runs next. */
static inline void arch_call_again(struct thread *thread)
{
    thread->context.pc -= SVC_BYTES;
}

#endif
