/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes values of the system's description to the memory manager and the scheduler.
 */
#include "microkernel/kernel/info.h"
#include "arch_inline.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"

#define WORD_BITS 32u

static enum sys_status give(struct thread *caller, uint32_t first, uint32_t second, uint32_t third)
{
    arch_answer(caller, 1, first);
    arch_answer(caller, 2, second);
    arch_answer(caller, 3, third);
    return SYS_OK;
}

_Static_assert(NAME_BYTES == 12u, "a name must fill three words");

static uint32_t characters(const char *text)
{
    uint32_t word = 0;

    for (uint32_t i = 0; i < sizeof word; i++) {
        word |= (uint32_t)(uint8_t)text[i] << 8u * i;
    }
    return word;
}

enum sys_status info_answer(struct thread *caller, const struct cap *cap, uint32_t what)
{
    const struct boot_system *system = kernel.system;
    const struct boot_component *given = &system->component[cap->object];
    const struct thread *thread = &kernel.thread[cap->object];
    const struct component *component = &kernel.component[cap->object];

    if (cap->type == CAP_UNTYPED) {
        return what == INFO_MEMORY   ? give(caller, cap->first, cap->last, kernel.frames.frame_bits)
               : what == INFO_SYSTEM ? give(caller, arch_physical(system), BOARD_SYSTEM_BYTES, 0)
                                     : SYS_EINVAL;
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
        return give(caller, component->data_first, component->data_bytes, 0);
    case INFO_STACK:
        return give(caller, thread->stack_first, thread->stack_last - thread->stack_first + 1u,
                    thread->state);
    case INFO_CLOCK:
        return give(caller, system->clock_hz, system->timer_hz, 0);
    case INFO_RUN:
        return give(caller, (uint32_t)system->run_ns, (uint32_t)(system->run_ns >> WORD_BITS), 0);
    case INFO_PERIOD:
        return give(caller, (uint32_t)given->period_ns, (uint32_t)(given->period_ns >> WORD_BITS), 0);
    case INFO_BUDGET:
        return give(caller, (uint32_t)given->budget_ns, (uint32_t)(given->budget_ns >> WORD_BITS), 0);
    case INFO_NAME:
        return give(caller, characters(&component->name[0]), characters(&component->name[4]),
                    characters(&component->name[8]));
    case INFO_TIME:
        return give(caller, arch_time(), arch_time_hz(), 0);
    case INFO_REFILLS:
        return give(caller, arch_refills(component), component->is_dead, 0);
    default:
        return SYS_EINVAL;
    }
}
