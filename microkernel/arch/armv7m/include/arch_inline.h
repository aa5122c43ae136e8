/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of a thread that is in the kernel, which are in the frame on its stack. The system call entry has
 * checked that the frame is accessible (arch_frame_is_sound()).
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_INLINE_H
#define BULKHEAD_MICROKERNEL_ARCH_INLINE_H

#include "microkernel/kernel/kernel.h"

#define SVC_BYTES 2u

static inline uint32_t arch_argument(const struct thread *thread, uint32_t index)
{
    return ((const volatile struct arch_frame *)thread->context.frame)->r[index];
}

static inline void arch_answer(struct thread *thread, uint32_t index, uint32_t value)
{
    thread->context.frame->r[index] = value;
}

static inline uint32_t arch_number(const struct thread *thread)
{
    return ((const volatile struct arch_frame *)thread->context.frame)->r12;
}

/* Makes the thread repeat its system call when it runs next. */
static inline void arch_call_again(struct thread *thread)
{
    thread->context.frame->pc -= SVC_BYTES;
}

#endif
