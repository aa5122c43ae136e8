/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls. The three calls that switch threads come first: call, reply and dispatch are the most
 * frequent.
 */
#include "microkernel/kernel/syscall.h"
#include "arch_inline.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/cap.h"
#include "microkernel/kernel/console.h"
#include "microkernel/kernel/info.h"
#include "microkernel/kernel/life.h"
#include "microkernel/kernel/memory.h"
#include "microkernel/kernel/report.h"

#define BYTE 0xFFu

static enum sys_status delegate(struct component *caller, struct cap *cap, uint32_t to, uint32_t rights,
                                uint32_t slot)
{
    enum sys_status status;
    const struct cap *component = cap_find(caller, to, CAP_COMPONENT, RIGHT_GRANT, &status);
    struct cap *child;
    struct cap content = *cap;

    if (component == 0) {
        return status;
    }
    child = cap_empty(&kernel.component[component->object], slot, &status);
    if (child == 0) {
        return status;
    }
    if (cap->depth == UINT8_MAX || cap->type == CAP_UNTYPED) {
        return SYS_EINVAL;
    }
    if (cap->type == CAP_MEMORY) {
        status = memory_share(cap);
        if (status != SYS_OK) {
            return status;
        }
        content.mapped = NO_COMPONENT;
    }
    content.rights &= (uint8_t)rights;
    if (cap->type == CAP_ENDPOINT && cap->badge == 0) {
        content.badge = (uint8_t)(rights >> BADGE_SHIFT);
    }
    cap_insert(child, cap, &content);
    return SYS_OK;
}

static enum sys_status delete_cap(struct cap *cap)
{
    enum sys_status status = cap->type == CAP_MEMORY ? memory_withdraw(cap) : SYS_OK;

    if (status == SYS_OK) {
        cap_remove(cap);
    }
    return status;
}

static enum sys_status revoke(struct cap *cap)
{
    enum sys_status status = SYS_OK;

    /* bound: MOST_CAPS */
    for (struct cap *child = cap_first_child(cap); child != 0 && status == SYS_OK;
         child = cap_first_child(cap)) {
        status = delete_cap(child);
    }
    return status;
}

/* SYS_MAP and SYS_GIVE, which name a memory capability and a component. */
static enum sys_status map_or_give(struct component *caller, struct cap *memory, uint32_t number, uint32_t to,
                                   uint32_t how)
{
    enum sys_status status;
    const struct cap *component = cap_find(caller, to, CAP_COMPONENT, RIGHT_MAP, &status);

    if (component == 0) {
        return status;
    }
    return number == SYS_GIVE ? memory_give(memory, component->object, how)
                              : memory_map(memory, component->object, how & BYTE, how >> 8 & BYTE, how >> 16);
}

/* Sets `again` if the caller has to repeat the call. */
static enum sys_status hardware(struct thread *current, const struct cap *cap, uint32_t operation,
                                const uint32_t word[2], bool *again)
{
    if (operation >= HW_OPERATIONS) {
        return SYS_EINVAL;
    }
    if ((cap->rights >> operation & 1u) == 0) {
        return SYS_ERIGHTS;
    }
    switch (operation) {
    case HW_END:
        return SYS_OK; /* end_system() handles this call */
    case HW_CONSOLE:
        *again = !console_text(current->component, word);
        if (!*again) {
            arch_answer(current, 1, console_waits());
        }
        return SYS_OK;
    default:
        return arch_hardware(operation, word);
    }
}

/* Ends the system. Only the scheduler may do so, after it has reported, so that the component that ended the
 * run cannot suppress the report. The memory manager may end it before the scheduler runs. */
static struct thread *end_system(struct thread *current)
{
    if (current != kernel.scheduler && kernel.scheduler_waits) {
        return thread_event(EVENT_END, component_number(current->component));
    }
    report_line("end");
    arch_halt();
}

/* Handles the calls that return at once. */
static __attribute__((noinline)) struct thread *serve(struct thread *current, uint32_t number)
{
    static const uint8_t type_of[SYS_NUMBERS] = {
        [SYS_RETYPE] = CAP_UNTYPED, [SYS_MAP] = CAP_MEMORY,        [SYS_UNMAP] = CAP_MEMORY,
        [SYS_GIVE] = CAP_MEMORY,    [SYS_HARDWARE] = CAP_HARDWARE,
    };
    struct component *caller = current->component;
    const uint32_t word[] = {arch_argument(current, 0), arch_argument(current, 1), arch_argument(current, 2),
                             arch_argument(current, 3)};
    enum sys_status status = SYS_EINVAL;
    bool again = false;
    struct cap *cap = 0;

    if (number < SYS_NUMBERS) {
        cap = cap_find(caller, word[0], (enum cap_type)type_of[number], 0, &status);
    }
    if (cap != 0) {
        switch (number) {
        case SYS_DELEGATE:
            status = delegate(caller, cap, word[1], word[2], word[3]);
            break;
        case SYS_REVOKE:
            status = revoke(cap);
            break;
        case SYS_DELETE:
            status = delete_cap(cap);
            break;
        case SYS_RETYPE:
            status = memory_retype(caller, cap, word[1], word[2], word[3], &again);
            break;
        case SYS_MAP:
        case SYS_GIVE:
            status = map_or_give(caller, cap, number, word[1], word[2]);
            break;
        case SYS_UNMAP:
            status = memory_unmap(cap);
            break;
        case SYS_INFO:
            status = info_answer(current, cap, word[1]);
            break;
        case SYS_HARDWARE:
            status = hardware(current, cap, word[1], &word[2], &again);
            if (status == SYS_OK && word[1] == HW_END) {
                return end_system(current);
            }
            break;
        default:
            status = SYS_EINVAL;
        }
    }
    if (again) {
        arch_call_again(current);
    } else {
        arch_answer(current, 0, status);
    }
    return caller->is_dead ? component_kill(caller) : current;
}

struct thread *kernel_syscall(struct thread *current)
{
    uint32_t number;
    enum sys_status status;
    const struct cap *cap;

    if (!arch_frame_is_sound(current)) {
        return report_stack(current);
    }
    number = arch_number(current);
    switch (number) {
    case SYS_CALL:
        cap = cap_find(current->component, arch_argument(current, 0), CAP_ENDPOINT, RIGHT_CALL, &status);
        if (cap != 0) {
            return thread_call(current, cap->object, cap->badge);
        }
        break;
    case SYS_REPLY_WAIT:
        cap = cap_find(current->component, arch_argument(current, 0), CAP_ENDPOINT, RIGHT_SERVE, &status);
        if (cap != 0 && kernel.endpoint[cap->object].server == current) {
            return thread_reply_wait(current);
        }
        break;
    case SYS_DISPATCH: {
        uint32_t slot = arch_argument(current, 0);

        status = SYS_ERIGHTS;
        if (current != kernel.scheduler) {
            break;
        }
        if (slot == SLOT_NONE) {
            return thread_dispatch(current, false, 0);
        }
        cap = cap_find(current->component, slot, CAP_THREAD, RIGHT_DISPATCH, &status);
        if (cap != 0) {
            return thread_dispatch(current, true, cap->object);
        }
        break;
    }
    case SYS_YIELD:
        if (current != kernel.scheduler && kernel.dispatched != 0) {
            arch_answer(current, 0, SYS_OK);
            return thread_event(EVENT_YIELD, arch_argument(current, 1));
        }
        status = SYS_EINVAL;
        break;
    default:
        return serve(current, number);
    }
    arch_answer(current, 0, status);
    return current;
}
