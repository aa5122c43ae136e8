/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the kernel on Armv7-M, threads, and faults that no refill resolves. The kernel uses the default
 * memory map; regions apply only to threads.
 */
#include "microkernel/kernel/arch.h"
#include "arch_inline.h"
#include "arch_offsets.h"
#include "clock.h"
#include "microkernel/arch/armv7m/access.h"
#include "microkernel/arch/armv7m/scb.h"
#include "microkernel/kernel/boot.h"
#include "microkernel/kernel/report.h"
#include <stddef.h>

#define XPSR_THUMB    (1u << 24)
#define FLAG_ALIGNED  (1u << 9) /* in the stacked xPSR: one word of padding */
#define RETURN_TO_PSP 4u

_Static_assert(offsetof(struct kernel, current) == KERNEL_CURRENT, "entry.S");
_Static_assert(offsetof(struct kernel, loaded) == KERNEL_LOADED, "entry.S");
_Static_assert(offsetof(struct thread, component) == THREAD_COMPONENT, "entry.S");
_Static_assert(offsetof(struct component, space) == 0, "entry.S");
_Static_assert(offsetof(struct arch_space, regions.image) == 0, "entry.S");
_Static_assert(offsetof(struct component, trie) == COMPONENT_TRIE, "entry.S");
_Static_assert(offsetof(struct arch_frame, pc) == FRAME_PC, "entry.S");
_Static_assert(MXU_MOST_REGIONS == 8, "entry.S loads eight");

void arch_main(void);
struct thread *arch_memory_fault(struct thread *current);
struct thread *arch_other_fault(struct thread *current, uint32_t exc_return);

void *arch_memory(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

bool arch_frame_is_sound(const struct thread *thread)
{
    uint32_t at = (uint32_t)(uintptr_t)thread->context.frame;

    return at - thread->stack_first <=
           thread->stack_last - thread->stack_first - sizeof(struct arch_frame) + 1u;
}

void arch_start(struct thread *thread)
{
    struct arch_frame *frame =
        (struct arch_frame *)(uintptr_t)(thread->stack_last + 1u - sizeof(struct arch_frame));

    *frame = (struct arch_frame){.pc = thread->entry & ~1u, .lr = UINT32_MAX, .xpsr = XPSR_THUMB};
    thread->context.frame = frame;
}

uint32_t arch_physical(const void *of_kernel)
{
    return (uint32_t)(uintptr_t)of_kernel;
}

/* Components can only read the timer's registers. */
uint32_t arch_time(void)
{
    return clock_read();
}

uint32_t arch_time_hz(void)
{
    return kernel.system->clock_hz;
}

void arch_set_tick(uint32_t clocks)
{
    *scb(SYST_RVR) = clocks - 1u;
    *scb(SYST_CVR) = 0;
}

void arch_start_timer(void)
{
    arch_set_tick(BOARD_TICK_CLOCKS);
    *scb(SYST_CSR) = SYST_ENABLE | SYST_TICKINT | SYST_CORE_CLOCK;
}

static const char *name_of(uint32_t status)
{
    if ((status & MMFSR_MSTKERR) != 0) {
        return "stack overflow";
    }
    if ((status & MMFSR_MUNSTKERR) != 0) {
        return "stack not accessible";
    }
    return "violation";
}

/* Kind of access of the instruction at `pc`, if it is in the component's code: only there can it be read
 * without a fault. */
static enum violation_access access_by(const struct component *component, uint32_t pc)
{
    return pc >= component->code_first && pc < component->code_last
               ? thumb_access(*(const volatile uint16_t *)arch_memory(pc & ~1u))
               : ACCESS_DATA;
}

/* Handles a MemManage fault of a thread that no refill has resolved. */
struct thread *arch_memory_fault(struct thread *current)
{
    uint32_t status = *scb(SCB_STATUS);
    uint32_t pc = arch_frame_is_sound(current) ? current->context.frame->pc : 0;
    bool is_data = (status & MMFSR_MMARVALID) != 0;
    bool is_fetch = (status & MMFSR_IACCVIOL) != 0;
    struct violation violation = {
        .what = name_of(status),
        .address = is_data ? *scb(SCB_MMFAR) : pc,
        .pc = pc,
        .access = is_fetch ? ACCESS_FETCH : access_by(current->component, pc),
        .has_address = is_data || is_fetch,
    };

    if ((is_data || is_fetch) && mxu_regions_refusal(&current->component->space.regions) == MXU_LIVELOCK) {
        violation.what = "live-lock: an instruction needs more regions than there are";
    }
    *scb(SCB_STATUS) = status; /* write 1 to clear */
    /* The exception whose frame could not be stored is still pending; it must not be taken for another
     * thread. */
    *scb(SCB_SHCSR) &= ~SHCSR_SVCALLPENDED;
    return report_violation(current, &violation);
}

/* Handles BusFault and UsageFault. */
struct thread *arch_other_fault(struct thread *current, uint32_t exc_return)
{
    uint32_t status = *scb(SCB_STATUS);
    bool has_address = (status & CFSR_BFARVALID) != 0;
    struct violation violation = {
        .what = has_address                  ? "bus error"
                : (status & CFSR_INVPC) != 0 ? "no sound frame"
                                             : "usage fault",
        .address = has_address ? *scb(SCB_BFAR) : 0,
        .pc = arch_frame_is_sound(current) ? current->context.frame->pc : 0,
        .access = ACCESS_DATA,
        .has_address = has_address,
    };

    if ((exc_return & RETURN_TO_PSP) == 0 && (status & CFSR_INVPC) == 0) {
        arch_unexpected();
    }
    *scb(SCB_STATUS) = status;
    *scb(SCB_SHCSR) &= ~SHCSR_SVCALLPENDED;
    return report_violation(current, &violation);
}

void arch_main(void)
{
    const char *wrong;

    board_start();
    wrong = kernel_boot(arch_memory(BOARD_SYSTEM_FIRST));
    if (wrong != 0) {
        report_line(wrong);
        arch_halt();
    }
    /* Faults have the highest priority: a fault that occurs while an exception stores its frame is handled
     * first. */
    *scb(SCB_SHPR1) = 0;
    *scb(SCB_SHPR2) = LOWEST_PRIORITY << 24;
    *scb(SCB_SHPR3) = LOWEST_PRIORITY << 24 | LOWEST_PRIORITY << 16;
    *scb(SCB_SHCSR) |= SHCSR_FAULTS;
    *scb(SCB_CPACR) = 0; /* disables the floating-point unit, because its registers are not switched */
    *scb(MPU_CTRL) = MPU_ENABLE | MPU_PRIVDEFENA;
    *scb(SCB_ICSR) = ICSR_PENDSVSET;
    __asm__ volatile("dsb\n\tisb\n\tcpsie i" ::: "memory");
}
