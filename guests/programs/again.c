// SPDX-License-Identifier: Apache-2.0
//
// A timer that has expired again whenever the program ends the timer's interrupt. Parameter: `times` [10]
// interrupts; then it reports how long they took.
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

static volatile uint64_t left; // interrupts to come

// The timer's output stays asserted until the last one.
void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid && --left == 0)
        timer_stop();
}

void program_main(void)
{
    uint64_t start = timer_now();

    left = param("times", 10);
    if (left == 0 || !gic_init())
        return;
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    timer_set(timer_now());
    while (left != 0) {
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
    }
    console_printf("report {\"ns\": %lu}\n", ticks_to_ns(timer_now() - start, timer_frequency()));
}
