// SPDX-License-Identifier: Apache-2.0
//
// The order of initialization, and nothing else.
#include "guests/runtime/start.h"

#include <arch/mmu.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"

static uint64_t counter_at_start;

uint64_t start_counter(void)
{
    return counter_at_start;
}

noreturn void start_first(const void *device_tree, uint64_t counter)
{
    counter_at_start = counter;
    board_discover(device_tree);
    mmu_init();
    console_init();
    program_main();
    psci_system_off();
}

noreturn void start_secondary(uint32_t cpu)
{
    program_secondary(cpu);
    psci_cpu_off();
}
