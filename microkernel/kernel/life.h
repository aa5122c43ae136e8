/* SPDX-License-Identifier: Apache-2.0
 *
 * Which thread runs: invocation between components, dispatch by the user-level scheduler, and the end of
 * components. Each function returns the thread to run next. The scheduler's policy chooses threads; the
 * kernel only follows calls and replies.
 */
#ifndef BULKHEAD_MICROKERNEL_LIFE_H
#define BULKHEAD_MICROKERNEL_LIFE_H

#include "microkernel/kernel/kernel.h"

/* Words of a message, passed with arch_answer(). */
#define MESSAGE_WORDS 3u

/* SYS_CALL on an endpoint with a badge. The message is in the caller's registers. If the server is busy, the
 * thread that the server waits for runs, and the caller repeats its call when it is dispatched next. */
struct thread *thread_call(struct thread *caller, uint32_t endpoint, uint32_t badge);

/* SYS_REPLY_WAIT of a server. */
struct thread *thread_reply_wait(struct thread *server);

/* SYS_DISPATCH by the scheduler: runs thread `number`, or the thread at the end of its chain of calls. If
 * there are ticks to report, or nothing to run (is_any false), the scheduler gets an event instead. */
struct thread *thread_dispatch(struct thread *scheduler, bool is_any, uint32_t number);

/* Returns to the scheduler with an event of the thread that it dispatched. */
struct thread *thread_event(enum sys_event event, uint32_t argument);

/* Handles a tick of the timer. */
struct thread *kernel_tick(struct thread *current);

/* Ends the thread for ever; threads that wait for it get SYS_EDEAD. */
void thread_end(struct thread *thread);

/* Kills the component of the running thread. */
struct thread *component_kill(struct component *component);

#endif
