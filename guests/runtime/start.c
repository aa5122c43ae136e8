// SPDX-License-Identifier: Apache-2.0
//
// The order of initialization. Nothing here decides anything.
#include "guests/runtime/start.h"

#include <arch/mmu.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"

noreturn void start_first(const void *device_tree)
{
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
