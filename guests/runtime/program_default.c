// SPDX-License-Identifier: Apache-2.0
//
// Defaults for programs that use one VCPU and no interrupts.
#include "guests/runtime/program.h"

#include "guests/runtime/console.h"
#include "guests/runtime/psci.h"

__attribute__((weak)) void program_secondary(uint32_t cpu)
{
    (void)cpu;
}

// No interrupt was enabled, and no handler would clear this one.
__attribute__((weak)) void program_interrupt(uint32_t intid)
{
    console_printf("unexpected interrupt %u\n", intid);
    psci_system_off();
}

__attribute__((weak)) bool program_exception(struct exception_frame *frame, uint64_t vector)
{
    (void)frame;
    (void)vector;
    return false;
}
