/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of calls: caller, callee, its callee, and so on. The thread at the end of a chain runs in the time
 * of the first. A server serves one caller at a time, so a chain has at most as many threads as there are
 * components.
 */
#include "microkernel/kernel/life.h"
#include "arch_inline.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/console.h"
#include "microkernel/kernel/report.h"

/* The thread that has to run so that `thread` can continue: the last of its chain. */
static struct thread *end_of_chain(struct thread *thread)
{
    /* bound: MOST_COMPONENTS */
    while (thread->callee != 0) {
        thread = thread->callee;
    }
    return thread;
}

static struct thread *answer(struct thread *thread, enum sys_status status)
{
    arch_answer(thread, 0, status);
    return thread;
}

struct thread *thread_event(enum sys_event event, uint32_t argument)
{
    struct thread *scheduler = kernel.scheduler;

    if (scheduler->state == THREAD_DEAD) {
        arch_halt();
    }
    if (kernel.scheduler_waits) {
        kernel.scheduler_waits = false;
        arch_answer(scheduler, 0, SYS_OK);
        arch_answer(scheduler, 1, event);
        arch_answer(scheduler, 2,
                    kernel.dispatched != 0 ? thread_number(kernel.dispatched) : MOST_COMPONENTS);
        arch_answer(scheduler, 3, argument);
    } else if (scheduler->state != THREAD_NEW) {
        return end_of_chain(scheduler); /* the scheduler itself may have called another component */
    } else if (arch_stack_is_ready(scheduler)) {
        scheduler->state = THREAD_READY;
        arch_start(scheduler);
        arch_start_timer();
    } else {
        arch_halt();
    }
    kernel.dispatched = 0;
    return scheduler;
}

struct thread *thread_call(struct thread *caller, uint32_t number, uint32_t badge)
{
    struct thread *server = kernel.endpoint[number].server;

    if (server->state == THREAD_WAITS) {
        caller->state = THREAD_CALLS;
        caller->callee = server;
        server->caller = caller;
        server->state = THREAD_READY;
        arch_answer(server, 0, badge << BADGE_SHIFT);
        for (uint32_t i = 1; i <= MESSAGE_WORDS; i++) {
            arch_answer(server, i, arch_argument(caller, i));
        }
        return server;
    }
    if (server->state == THREAD_DEAD || server->state == THREAD_NEW) {
        return answer(caller, server->state == THREAD_DEAD ? SYS_EDEAD : SYS_EBUSY);
    }
    server = end_of_chain(server);
    if (server == caller) {
        return answer(caller, SYS_EDEADLOCK);
    }
    arch_call_again(caller);
    kernel.is_helping = true;
    return server;
}

struct thread *thread_reply_wait(struct thread *server)
{
    struct thread *caller = server->caller;
    bool helped = kernel.is_helping;

    server->state = THREAD_WAITS;
    server->caller = 0;
    if (caller == 0) {
        return thread_event(EVENT_WAITS, 0);
    }
    caller->callee = 0;
    if (caller->state == THREAD_DEAD) {
        return thread_event(EVENT_SERVED, 0);
    }
    caller->state = THREAD_READY;
    for (uint32_t i = 1; i <= MESSAGE_WORDS; i++) {
        arch_answer(caller, i, arch_argument(server, i));
    }
    (void)answer(caller, SYS_OK);
    return helped ? thread_event(EVENT_SERVED, 0) : caller;
}

struct thread *thread_dispatch(struct thread *scheduler, bool is_any, uint32_t number)
{
    struct thread *thread = is_any ? &kernel.thread[number] : 0;

    kernel.dispatched = 0;
    kernel.is_helping = false;
    if (kernel.ticks != 0 || thread == 0) {
        uint32_t ticks = kernel.ticks;

        kernel.ticks = 0;
        kernel.scheduler_waits = true;
        return thread_event(ticks != 0 ? EVENT_TICK : EVENT_NONE, ticks);
    }
    if (thread->state == THREAD_NEW) {
        if (!arch_stack_is_ready(thread)) {
            return answer(scheduler, SYS_ENOMEM);
        }
        thread->state = THREAD_READY;
        arch_start(thread);
    }
    if (thread->state == THREAD_DEAD || thread->state == THREAD_WAITS || thread == scheduler) {
        return answer(scheduler, thread->state == THREAD_DEAD ? SYS_EDEAD : SYS_EINVAL);
    }
    kernel.dispatched = thread;
    kernel.scheduler_waits = true;
    return end_of_chain(thread);
}

struct thread *kernel_tick(struct thread *current)
{
    uint32_t ticks = kernel.ticks + 1u;

    console_keep_time();
    console_drain();
    kernel.ticks = ticks;
    if (kernel.dispatched == 0) {
        return current;
    }
    if (!arch_frame_is_sound(current)) {
        return report_stack(current);
    }
    kernel.ticks = 0;
    return thread_event(EVENT_TICK, ticks);
}

void thread_end(struct thread *thread)
{
    if (thread->caller != 0) {
        thread->caller->callee = 0;
        if (thread->caller->state == THREAD_CALLS) {
            thread->caller->state = THREAD_READY;
            (void)answer(thread->caller, SYS_EDEAD);
        }
        thread->caller = 0;
    }
    thread->state = THREAD_DEAD;
}

struct thread *component_kill(struct component *component)
{
    component->is_dead = 1;
    /* bound: MOST_COMPONENTS */
    for (uint32_t i = 0; i < kernel.component_count; i++) {
        if (kernel.thread[i].component == component) {
            thread_end(&kernel.thread[i]);
        }
    }
    return thread_event(EVENT_KILLED, component_number(component));
}
