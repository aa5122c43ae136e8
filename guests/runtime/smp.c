// SPDX-License-Identifier: Apache-2.0
//
// PSCI CPU_ON for each VCPU except the calling one. Indexes are given in the order of starting, so that they
// have no gaps even if a VCPU does not start.
#include "guests/runtime/smp.h"

#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/psci.h"
#include "guests/runtime/start.h"

#define MPIDR_AFFINITY 0xFF00FFFFFFull

uint32_t smp_self(void)
{
    return (uint32_t)sysreg_read(TPIDR_EL1);
}

uint32_t smp_start(void)
{
    const struct board *b = board();
    uint64_t self = sysreg_read(MPIDR_EL1) & MPIDR_AFFINITY;
    uint64_t entry = mmu_physical((const void *)(uintptr_t)start_secondary_entry);
    uint32_t running = 1;

    for (uint32_t i = 0; i < b->cpu_count && running < BOARD_MAX_CPUS; i++) {
        if (b->cpu_mpidr[i] == self)
            continue;
        int32_t error = psci_cpu_on(b->cpu_mpidr[i], entry, running);
        if (error == 0) {
            running++;
        } else {
            console_printf("cpu %lx: not started, PSCI error %d\n", b->cpu_mpidr[i], error);
        }
    }
    return running;
}
