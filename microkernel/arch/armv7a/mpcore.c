/* SPDX-License-Identifier: Apache-2.0
 *
 * Timers and interrupt controller of the Cortex-A9 MPCore. Registers are at offsets from BOARD_MPCORE_FIRST
 * (DDI 0407I, 1.5).
 */
#include "microkernel/arch/armv7a/mpcore.h"
#include "board.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"

#define CPU_CONTROL     0x100u
#define CPU_MASK        0x104u
#define CPU_ACKNOWLEDGE 0x10Cu
#define CPU_END         0x110u
#define GLOBAL_LOW      0x200u
#define GLOBAL_CONTROL  0x208u
#define TIMER_LOAD      0x600u
#define TIMER_CONTROL   0x608u
#define TIMER_STATUS    0x60Cu
#define DIST_CONTROL    0x1000u
#define DIST_ENABLE     0x1100u

#define TIMER_INTERRUPT 29u
#define INTERRUPT_MASK  0x3FFu
#define ALL_PRIORITIES  0xFFu
#define TIMER_RUNS      7u /* enabled, auto-reload, interrupt enabled */

static volatile uint32_t *device(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(BOARD_MPCORE_FIRST + offset);
}

void mpcore_start_time(void)
{
    *device(GLOBAL_CONTROL) = 1;
}

void mpcore_start(void)
{
    *device(DIST_ENABLE) = 1u << TIMER_INTERRUPT;
    *device(DIST_CONTROL) = 1;
    *device(CPU_MASK) = ALL_PRIORITIES;
    *device(CPU_CONTROL) = 1;
}

bool mpcore_timer_has_ticked(void)
{
    uint32_t acknowledged = *device(CPU_ACKNOWLEDGE);
    bool is_timer = (acknowledged & INTERRUPT_MASK) == TIMER_INTERRUPT;

    if (is_timer) {
        *device(TIMER_STATUS) = 1;
    }
    *device(CPU_END) = acknowledged;
    return is_timer;
}

/* Uses the global timer: components can stop and set the cycle counter, because PMUSERENR cannot grant read
 * access alone. */
uint32_t arch_time(void)
{
    return *device(GLOBAL_LOW);
}

uint32_t arch_time_hz(void)
{
    return kernel.system->timer_hz;
}

void arch_set_tick(uint32_t clocks)
{
    *device(TIMER_LOAD) = clocks - 1u;
    *device(TIMER_CONTROL) = TIMER_RUNS;
}
