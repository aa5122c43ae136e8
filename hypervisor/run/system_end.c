/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the machine, in this order: stop the other cores, write the console's rings, wait for open
 * windows, turn the power off. Writing the remaining output and firmware's power-off take time that does not
 * belong to the run, so guests must not continue meanwhile.
 */
#include "run/system_end.h"
#include "console/console.h"
#include "flow/flows.h"
#include "iommu/smmu.h"
#include "mpam/mpam_components.h"
#include "run/loader.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/smc.h>

#define PSCI_CPU_OFF 0x84000002u

static void end_other_cores(void)
{
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        if (i != this_cpu()->index) {
            cpu_send_request(cpu_at(i), CPU_REQUEST_END);
        }
    }
}

void system_end_core(void)
{
    arch_dsb_sy();
    (void)arch_smc(PSCI_CPU_OFF, 0, 0, 0);
    for (;;) {
        arch_wfi();
    }
}

void system_finish_if_ending(void)
{
    if (!system_is_ending()) {
        return;
    }
    system_ended();
    flows_ended();
    end_other_cores();
    mpam_components_end();
    smmu_end();
    console_flush();
    while (loader_is_at_work()) { /* otherwise checks of the tables afterwards would find open windows */
    }
    system_status()->phase = BH_PHASE_ENDED;
    system_power_off();
}
