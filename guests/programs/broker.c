// SPDX-License-Identifier: Apache-2.0
//
// The broker: moves what flows between domains, one transfer at a time, as EL2 says
// (BH_HYPERCALL_BROKER_NEXT). It sees the memory of domains with a socket behind BH_BROKER_WINDOW, and knows
// nothing of packets; where a DMA engine copies, it only asks. When there is nothing to do it waits until EL2
// wakes it, or for the time that EL2 named. Parameters: `interrupt` of its line; `event`: it is woken by
// events instead (WFE), and no interrupt is taken for a packet. Interrupts stay masked, they only end
// waiting.
#include <arch/mmu.h>
#include <arch/sysreg.h>
#include <bulkhead_layout.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/runtime/window.h"

enum { watched_ns = 20000 }; // waits that are not longer are not worth the timer's interrupt

static volatile uint32_t woken; // EL2 stores 1 before it sends an event
static uint64_t watched_ticks;

static void end_timer(void)
{
    uint32_t intid;

    timer_stop();
    if (gic_acknowledge(&intid)) // the timer's; the line is EL2's to lower, at the next call
        gic_end(intid);
}

static void wait_for_interrupt(uint64_t deadline)
{
    if (deadline != UINT64_MAX)
        timer_set(deadline);
    cpu_wait_for_interrupt();
    end_timer();
}

// An event that comes after the look at the word is kept by the core, so that WFE returns at once. Returns to
// EL1 count as events, too: it is the word that says whether it was woken.
static void wait_for_event(uint64_t deadline)
{
    uint64_t now = timer_now();
    bool by_timer = deadline != UINT64_MAX && deadline > now && deadline - now > watched_ticks;

    if (by_timer)
        timer_set(deadline);
    while (woken == 0 && (deadline == UINT64_MAX || timer_now() < deadline)) {
        if (by_timer || deadline == UINT64_MAX)
            cpu_wait_for_event();
    }
    if (by_timer)
        end_timer();
}

void program_main(void)
{
    uint64_t x[CALL_REGISTERS];
    bool by_event = param("event", 0) != 0;

    if (!gic_init()) {
        console_write("broker: there is no interrupt controller\n");
        return;
    }
    if (!by_event)
        gic_enable_shared((uint32_t)param("interrupt", 0));
    watched_ticks = ns_to_ticks(watched_ns, timer_frequency());
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    for (;;) {
        woken = 0;
        x[0] = BH_HYPERCALL_BROKER_NEXT;
        x[1] = by_event ? mmu_physical((const void *)(uintptr_t)&woken) : 0;
        cpu_hypervisor_call_all(x);
        if (x[0] != 0) {
            console_write("broker: there are no flows\n");
            return;
        }
        if (x[1] == BH_BROKER_ANSWER_TRANSFER)
            window_copy(x[3], x[2], x[4]);
        else if (x[1] == BH_BROKER_ANSWER_NOTHING && by_event)
            wait_for_event(x[2]);
        else if (x[1] == BH_BROKER_ANSWER_NOTHING)
            wait_for_interrupt(x[2]);
    }
}
