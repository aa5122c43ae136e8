/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the kernel on Armv7-A, threads, aborts, and the timer's interrupt. There is no refill handler:
 * tables are complete, and hardware handles TLB misses.
 */
#include "microkernel/kernel/arch.h"
#include "arch_offsets.h"
#include "board.h"
#include "microkernel/arch/armv7a/cp15.h"
#include "microkernel/arch/armv7a/local_memory.h"
#include "microkernel/arch/armv7a/mpcore.h"
#include "microkernel/arch/armv7a/outer_cache.h"
#include "microkernel/kernel/boot.h"
#include "microkernel/kernel/life.h"
#include "microkernel/kernel/report.h"
#include <stddef.h>

#define PSR_USER    0x10u
#define PSR_THUMB   0x20u
#define FSR_WRITE   (1u << 11)
#define FSR_STATUS  0x40Fu
#define FSR_ALIGNED 1u
#define PMU_ENABLE  1u
#define PMU_CYCLES  (1u << 31)
#define HALF_WORDS  0x800u      /* of the kernel's table */
#define OWN_MEMORY  0x40000000u /* physical: DRAM is below this address, everything else above */

_Static_assert(offsetof(struct kernel, current) == KERNEL_CURRENT, "entry.S");
_Static_assert(offsetof(struct kernel, loaded) == KERNEL_LOADED, "entry.S");
_Static_assert(offsetof(struct thread, component) == THREAD_COMPONENT, "entry.S");
_Static_assert(sizeof(struct arch_context) == THREAD_COMPONENT, "entry.S");
_Static_assert(offsetof(struct component, space) == 0, "entry.S");
_Static_assert(offsetof(struct arch_space, ttbr0) == SPACE_TTBR0, "entry.S");
_Static_assert(offsetof(struct arch_space, asid) == SPACE_ASID, "entry.S");

extern const char arch_vectors[];
extern const uint32_t arch_kernel_table[];

struct thread *arch_main(void);
struct thread *arch_data_abort(struct thread *current);
struct thread *arch_prefetch_abort(struct thread *current);
struct thread *arch_undefined(struct thread *current);
struct thread *arch_interrupt(struct thread *current);

void *arch_memory(uint32_t address)
{
    return (void *)(uintptr_t)(address < OWN_MEMORY ? address + KERNEL_ALIAS : address);
}

uint32_t arch_physical(const void *of_kernel)
{
    return (uint32_t)(uintptr_t)of_kernel - KERNEL_ALIAS;
}

bool arch_frame_is_sound(const struct thread *thread)
{
    (void)thread; /* exception frames are not in user memory */
    return true;
}

void arch_start(struct thread *thread)
{
    thread->context = (struct arch_context){
        .sp = thread->stack_last + 1u,
        .pc = thread->entry & ~1u,
        .psr = PSR_USER | ((thread->entry & 1u) != 0 ? PSR_THUMB : 0),
    };
}

void arch_start_timer(void)
{
    arch_set_tick(BOARD_TICK_CLOCKS);
}

struct thread *arch_data_abort(struct thread *current)
{
    uint32_t status = cp15_read_dfsr();
    struct violation violation = {
        .what = (status & FSR_STATUS) == FSR_ALIGNED ? "alignment fault" : "violation",
        .address = cp15_read_dfar(),
        .pc = current->context.pc,
        .access = (status & FSR_WRITE) != 0 ? ACCESS_WRITE : ACCESS_READ,
        .has_address = true,
    };

    return report_violation(current, &violation);
}

struct thread *arch_prefetch_abort(struct thread *current)
{
    struct violation violation = {
        .what = "violation",
        .address = cp15_read_ifar(),
        .pc = current->context.pc,
        .access = ACCESS_FETCH,
        .has_address = true,
    };

    return report_violation(current, &violation);
}

struct thread *arch_undefined(struct thread *current)
{
    const struct violation violation = {.what = "undefined instruction", .pc = current->context.pc};

    return report_violation(current, &violation);
}

struct thread *arch_interrupt(struct thread *current)
{
    return mpcore_timer_has_ticked() ? kernel_tick(current) : current;
}

/* Copies the kernel's table to on-chip memory, so that walks for the kernel cost as little as those for a
 * component's placed nodes. TTBR1 covers only the upper half. */
static void place_table(void)
{
    const uint32_t *from = &arch_kernel_table[HALF_WORDS];
    volatile uint32_t *to = arch_memory(BOARD_TABLE_FIRST + HALF_WORDS * sizeof *to);

    for (uint32_t i = 0; i < HALF_WORDS; i++) {
        to[i] = from[i];
    }
    cp15_complete();
    cp15_write_ttbr1(BOARD_TABLE_FIRST | WALK_CACHED);
    cp15_complete();
    cp15_write_tlb_all(0);
    cp15_complete();
}

struct thread *arch_main(void)
{
    const struct boot_system *system =
        arch_memory(BOARD_SYSTEM_FIRST); /* kernel_boot() checks the description */
    const char *wrong;

    board_start();
    mpcore_start_time();
    outer_cache_start();
    place_table();
    local_start(system->hardware.limit[MXU_WAY_BYTES]);
    cp15_write_vbar((uint32_t)(uintptr_t)arch_vectors);
    cp15_write_pmu_control(PMU_ENABLE);
    cp15_write_pmu_enable(PMU_CYCLES);
    cp15_write_pmu_user(1); /* components may read and set the cycle counter; the kernel does not use it */
    wrong = kernel_boot(system);
    if (wrong != 0) {
        report_line(wrong);
        arch_halt();
    }
    mpcore_start();
    return kernel.current;
}
