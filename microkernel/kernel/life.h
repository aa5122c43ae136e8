/* SPDX-License-Identifier: Apache-2.0
 *
 * Who runs: invocation between components, dispatch by the user-level scheduler, and the end of components.
 * Each function returns the thread that runs next. Which thread should is the scheduler's policy; the kernel
 * only follows calls and replies.
 */
#ifndef BULKHEAD_MICROKERNEL_LIFE_H
#define BULKHEAD_MICROKERNEL_LIFE_H

#include "microkernel/kernel/kernel.h"

/* Words of a message that arch_answer() passes. */
#define MESSAGE_WORDS 3u

/* SYS_CALL of an endpoint with a badge. The message is in the caller's registers. If the server is busy, the
 * one that it waits for runs, and the caller calls again when it is dispatched next. */
struct thread *thread_call(struct thread *caller, uint32_t endpoint, uint32_t badge);

/* SYS_REPLY_WAIT of a server. */
struct thread *thread_reply_wait(struct thread *server);

/* SYS_DISPATCH by the scheduler: what `number` waits for runs. If there are ticks to tell, or nothing to run
 * (is_any false), the scheduler gets them instead. */
struct thread *thread_dispatch(struct thread *scheduler, bool is_any, uint32_t number);

/* Back to the scheduler, with an event of the thread that it dispatched. */
struct thread *thread_event(enum sys_event event, uint32_t argument);

/* A tick of the timer. */
struct thread *kernel_tick(struct thread *current);

/* The thread never runs again; who waits for it gets SYS_EDEAD. */
void thread_end(struct thread *thread);

/* The component of the running thread is killed. */
struct thread *component_kill(struct component *component);

#endif
