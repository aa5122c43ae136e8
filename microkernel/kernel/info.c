/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of the system's description, for the memory manager and the scheduler.
 */
#include "microkernel/kernel/info.h"
#include "arch_inline.h"

static enum sys_status give(struct thread *caller, uint32_t first, uint32_t second, uint32_t third)
{
    arch_answer(caller, 1, first);
    arch_answer(caller, 2, second);
    arch_answer(caller, 3, third);
    return SYS_OK;
}

enum sys_status info_answer(struct thread *caller, const struct cap *cap, uint32_t what)
{
    const struct thread *thread = &kernel.thread[cap->object];
    const struct component *component = &kernel.component[cap->object];

    if (cap->type == CAP_UNTYPED && what == INFO_MEMORY) {
        return give(caller, cap->first, cap->last, kernel.frames.frame_bits);
    }
    if (cap->type != CAP_COMPONENT && cap->type != CAP_THREAD) {
        return SYS_EINVAL;
    }
    switch (what) {
    case INFO_SELF:
        return give(caller, cap->object, thread->priority, thread->serves);
    case INFO_CODE:
        return give(caller, component->code_first, component->code_last - component->code_first + 1u,
                    component->spec);
    case INFO_DATA:
        return give(caller, component->data_first, component->data_bytes, component->heap_bytes);
    case INFO_STACK:
        return give(caller, thread->stack_first, thread->stack_last - thread->stack_first + 1u,
                    thread->state);
    default:
        return SYS_EINVAL;
    }
}
