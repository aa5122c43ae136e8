// SPDX-License-Identifier: Apache-2.0
//
// The broker: moves what flows between domains, one transfer at a time, as EL2 says
// (BH_HYPERCALL_BROKER_NEXT). It sees the memory of domains with a socket behind BH_BROKER_WINDOW, and knows
// nothing of packets. When there is nothing to do it waits for the interrupt that EL2 raises with the next
// packet, or for the time that EL2 named; both stay masked, they only end the waiting.
#include <arch/sysreg.h>
#include <bulkhead_layout.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/timer.h"
#include "guests/runtime/window.h"

static void wait_until(uint64_t deadline)
{
    uint32_t intid;

    if (deadline != UINT64_MAX)
        timer_set(deadline);
    cpu_wait_for_interrupt();
    timer_stop();
    if (gic_acknowledge(&intid)) // the timer's; the line is EL2's to lower, at the next call
        gic_end(intid);
}

void program_main(void)
{
    uint64_t x[CALL_REGISTERS];

    if (!gic_init()) {
        console_write("broker: there is no interrupt controller\n");
        return;
    }
    gic_enable_shared((uint32_t)param("interrupt", 0));
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    for (;;) {
        x[0] = BH_HYPERCALL_BROKER_NEXT;
        cpu_hypervisor_call_all(x);
        if (x[0] != 0) {
            console_write("broker: there are no flows\n");
            return;
        }
        if (x[1] == BH_BROKER_ANSWER_TRANSFER)
            window_copy(x[3], x[2], x[4]);
        else if (x[1] == BH_BROKER_ANSWER_NOTHING)
            wait_until(x[2]);
    }
}
