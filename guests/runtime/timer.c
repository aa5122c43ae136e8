// SPDX-License-Identifier: Apache-2.0
//
// The generic timer's EL1 virtual timer (CNTV_*). Its interrupt stays asserted until the deadline moves or
// the timer is stopped; handlers must do one of the two.
#include "guests/runtime/timer.h"

#include <arch/sysreg.h>

enum { control_enable = 1 };

uint64_t timer_now(void)
{
    cpu_sync_context(); // the counter must not be read early
    return sysreg_read(CNTVCT_EL0);
}

uint64_t timer_frequency(void)
{
    uint64_t frequency = sysreg_read(CNTFRQ_EL0);

    return frequency != 0 ? frequency : 1;
}

void timer_set(uint64_t deadline)
{
    sysreg_write(CNTV_CVAL_EL0, deadline);
    sysreg_write(CNTV_CTL_EL0, control_enable);
    cpu_sync_context();
}

void timer_stop(void)
{
    sysreg_write(CNTV_CTL_EL0, 0);
    cpu_sync_context();
}

void timer_sleep_until(uint64_t deadline)
{
    while (timer_now() < deadline) {
        timer_set(deadline); // again: an interrupt of an earlier deadline may have stopped the timer
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
    }
    timer_stop();
}
