/* SPDX-License-Identifier: Apache-2.0
 *
 * Time from the generic timer (DDI 0487, D12).
 */
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <arch/sysreg.h>

#define TIMER_ENABLE 1u

static uint64_t start;

uint64_t clock_now(void)
{
    arch_isb(); /* the counter must not be read early */
    return sysreg_read(CNTPCT_EL0);
}

uint32_t clock_hz(void)
{
    return (uint32_t)sysreg_read(CNTFRQ_EL0);
}

void clock_set_start(uint64_t counter)
{
    start = counter;
}

uint64_t clock_since_start_us(void)
{
    uint64_t hz = clock_hz();
    uint64_t ticks = start == 0 ? 0 : clock_now() - start;

    return ticks / hz * 1000000u + ticks % hz * 1000000u / hz;
}

/* Ticks of a duration. `added`: billionths of a tick that are added before the rest is dropped. */
static uint64_t ticks_of(uint64_t duration_ns, uint64_t added)
{
    uint64_t hz = clock_hz();
    uint64_t seconds = duration_ns / 1000000000u;
    uint64_t rest = duration_ns % 1000000000u;

    return seconds * hz + (rest * hz + added) / 1000000000u;
}

uint64_t clock_ticks(uint64_t duration_ns)
{
    return ticks_of(duration_ns, 999999999u);
}

uint64_t clock_whole_ticks(uint64_t duration_ns)
{
    return ticks_of(duration_ns, 0);
}

void clock_enable_alarms(const struct cpu *cpu)
{
    gic_enable(system_manifest()->platform.cnthp_irq, cpu->mpidr);
}

/* Arms the timer for the earliest alarm. Without an alarm, turns it off, which withdraws its interrupt. */
static void arm(const uint64_t alarms_here[CLOCK_ALARM_COUNT])
{
    uint64_t earliest = UINT64_MAX;

    for (uint32_t i = 0; i < CLOCK_ALARM_COUNT; i++) {
        if (alarms_here[i] != 0 && alarms_here[i] < earliest) {
            earliest = alarms_here[i];
        }
    }
    sysreg_write(CNTHP_CVAL_EL2, earliest);
    sysreg_write(CNTHP_CTL_EL2, earliest != UINT64_MAX ? TIMER_ENABLE : 0);
    arch_isb();
}

void clock_set_alarm(enum clock_alarm alarm, uint64_t deadline)
{
    uint64_t *here = this_cpu()->alarms;

    here[alarm] = deadline;
    arm(here);
}

uint32_t clock_take_alarms(void)
{
    uint64_t *here = this_cpu()->alarms;
    uint64_t now = clock_now();
    uint32_t due = 0;

    for (uint32_t i = 0; i < CLOCK_ALARM_COUNT; i++) {
        if (here[i] != 0 && here[i] <= now) {
            here[i] = 0;
            due |= 1u << i;
        }
    }
    arm(here);
    return due;
}
