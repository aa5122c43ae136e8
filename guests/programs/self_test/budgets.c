// SPDX-License-Identifier: Apache-2.0
//
// Measures on a board what the enforcement of a budget costs, and how short a period and how small a budget
// can be. Prints the figures as YAML between two marks, for `bulkhead self-test`. The program is a manager on
// all cores, in order from core 0 on, and the only domain. Its budget in the system file is a rate for each
// VCPU of half of what the memory guarantees, in 1 ms. Parameters: `core_kib` [4096] and `window_us` [1000]
// as of self_test; a budget is measured for 20 of its periods, if that is longer.
#include "guests/programs/self_test/self_test.h"

#include "guests/runtime/console.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/program.h"
#include "guests/runtime/timer.h"

void program_interrupt(uint32_t intid)
{
    (void)intid;
    timer_stop();
}

void program_main(void)
{
    struct self_test test;
    struct manager_budget own = manager_budget(0);
    struct budget_setting budget = {own.events, own.period_ns};
    uint64_t typical;

    if (!self_test_begin(&test))
        return;
    if (own.result != 0) {
        console_write("self-test: this is no manager, or it has no budget\n");
        return;
    }
    self_test_ready();
    test.cpus = team_start();
    report_append("self_test_budgets: 1\ncores: { count: %u }\n", test.cpus);
    if (!measure_interruptions(&test, &budget, &typical))
        return;
    measure_enforcement(&test, &budget, typical);
    if (report_print())
        console_write("report {\"measured\": 1}\n");
}
