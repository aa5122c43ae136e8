/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of PSCI 1.1 (DEN0022) that a hypervisor calls. Cores share these variables uncached. Unknown
 * calls may belong to the calling convention (speculation.c).
 */
#include "firmware.h"

#define PSCI_VERSION          0x84000000u
#define PSCI_CPU_OFF          0x84000002u
#define PSCI_CPU_ON_64        0xC4000003u
#define PSCI_AFFINITY_INFO_64 0xC4000004u
#define PSCI_SYSTEM_OFF       0x84000008u
#define PSCI_FEATURES         0x8400000Au
#define SIP_INCREMENT         0xC2000001u /* a service of the chip, for guests that may call it */

#define VERSION_1_1        0x10001
#define INVALID_PARAMETERS (-2)
#define ALREADY_ON         (-4)
#define ON_PENDING         (-5)

#define GPIO_DIRECTION 0x400u
#define GPIO_PIN_0     0x1u
#define GPIO_DATA_0    0x004u /* a pin's data register is at its mask, times four */

enum power { POWER_OFF = 0, POWER_ON = 1, POWER_PENDING = 2 }; /* encoded as the answers of AFFINITY_INFO */

static struct {
    volatile uint64_t pc;
    volatile uint64_t context;
    volatile enum power power;
} cores[MAX_CORES];

static uint64_t this_core(void)
{
    uint64_t mpidr;

    __asm__("mrs %0, MPIDR_EL1" : "=r"(mpidr));
    return mpidr & 0xFF;
}

void psci_first_core_is_on(void)
{
    cores[0].power = POWER_ON;
}

_Bool psci_start_of(uint64_t core, uint64_t *pc, uint64_t *context)
{
    if (cores[core].power != POWER_PENDING) {
        return 0;
    }
    *pc = cores[core].pc;
    *context = cores[core].context;
    cores[core].power = POWER_ON;
    return 1;
}

static int64_t turn_on(uint64_t core, uint64_t pc, uint64_t context)
{
    if (core >= MAX_CORES) {
        return INVALID_PARAMETERS;
    }
    if (cores[core].power != POWER_OFF) {
        return cores[core].power == POWER_ON ? ALREADY_ON : ON_PENDING;
    }
    cores[core].pc = pc;
    cores[core].context = context;
    cores[core].power = POWER_PENDING;
    __asm__ volatile("dsb sy\n\tsev" ::: "memory");
    return 0;
}

/* A pin that only the secure world can set switches the board's power. */
static void turn_machine_off(void)
{
    speculation_report();
    write32(SECURE_GPIO_PA + GPIO_DIRECTION, GPIO_PIN_0);
    write32(SECURE_GPIO_PA + GPIO_DATA_0, 0);
    write32(SECURE_GPIO_PA + GPIO_DATA_0, GPIO_PIN_0);
    for (;;) {
        __asm__ volatile("wfi");
    }
}

static int64_t has_function(uint64_t function)
{
    return function == PSCI_VERSION || function == PSCI_CPU_OFF || function == PSCI_CPU_ON_64 ||
                   function == PSCI_AFFINITY_INFO_64 || function == PSCI_SYSTEM_OFF ||
                   function == PSCI_FEATURES || function == SMCCC_VERSION
               ? 0
               : NOT_SUPPORTED;
}

int64_t firmware_call(uint64_t function, uint64_t first, uint64_t second, uint64_t third)
{
    switch (function) {
    case PSCI_VERSION:
        return VERSION_1_1;
    case PSCI_FEATURES:
        return has_function(first);
    case PSCI_CPU_ON_64:
        return turn_on(first, second, third);
    case PSCI_CPU_OFF:
        cores[this_core()].power = POWER_OFF;
        firmware_forget_stack(this_core());
    case PSCI_AFFINITY_INFO_64:
        return first < MAX_CORES ? (int64_t)cores[first].power : INVALID_PARAMETERS;
    case PSCI_SYSTEM_OFF:
        turn_machine_off();
        return 0;
    case SIP_INCREMENT:
        return (int64_t)(first + 1);
    default:
        return speculation_call(this_core(), function, first);
    }
}
