// SPDX-License-Identifier: Apache-2.0
//
// Function identifiers and the choice of the conduit. If a call returns that must not return, the VCPU sleeps
// with interrupts masked, since it has no way to report the error.
#include "guests/runtime/psci.h"

#include <arch/sysreg.h>

#include "guests/runtime/board.h"

#define FUNCTION_VERSION      0x84000000u
#define FUNCTION_CPU_OFF      0x84000002u
#define FUNCTION_CPU_ON       0xC4000003u
#define FUNCTION_SYSTEM_OFF   0x84000008u
#define FUNCTION_SYSTEM_RESET 0x84000009u

static uint64_t call(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3)
{
    if (board()->psci == BOARD_PSCI_SMC)
        return cpu_firmware_call(function, a1, a2, a3);
    return cpu_hypervisor_call(function, a1, a2, a3);
}

static noreturn void call_for_good(uint64_t function)
{
    cpu_mask_interrupts();
    (void)call(function, 0, 0, 0);
    for (;;)
        cpu_wait_for_interrupt();
}

uint32_t psci_version(void)
{
    return (uint32_t)call(FUNCTION_VERSION, 0, 0, 0);
}

int32_t psci_cpu_on(uint64_t mpidr, uint64_t entry, uint64_t context)
{
    return (int32_t)(uint32_t)call(FUNCTION_CPU_ON, mpidr, entry, context);
}

noreturn void psci_cpu_off(void)
{
    call_for_good(FUNCTION_CPU_OFF);
}

noreturn void psci_system_off(void)
{
    call_for_good(FUNCTION_SYSTEM_OFF);
}

noreturn void psci_system_reset(void)
{
    call_for_good(FUNCTION_SYSTEM_RESET);
}
