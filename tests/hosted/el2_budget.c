/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the unchanged hypervisor (the linker's --wrap), for tests of the performance monitors under it:
 * on each core that runs a guest the last event counter is EL2's and counts refills of the second level by
 * the guest and EL2, with a budget; the others are the guest's. Each overflow is handled in the interrupt
 * that it causes; after some, the core logs its results, and stops counting.
 */
#include "console/console.h"
#include "run/guest_state.h"
#include "trap/trap.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <arch/sysreg.h>

#define COUNTER          5u /* of six */
#define COUNTER_BIT      (1u << COUNTER)
#define EVENT_L2D_REFILL 0x17u
#define TYPE_NSH         (1u << 27) /* counted at EL2 too */
#define MDCR_HPMN        0x1Full
#define MDCR_HPME        (1ull << 7)
#define MDCR_TRAPS       (3ull << 5) /* TPMCR, TPM: the other counters are the guest's */
#define OVERFLOWS        50u

void __real_cpu_main(uint32_t index, struct guest_regs *regs);
void __wrap_cpu_main(uint32_t index, struct guest_regs *regs);
bool __real_trap_irq_short(void);
bool __wrap_trap_irq_short(void);

static struct {
    uint32_t overflows;
    uint64_t least; /* events past the budget, when EL2 reads the counter */
    uint64_t most;
} seen[BH_MAX_CORES];

/* A different one on each core. */
static uint64_t budget(void)
{
    static const uint64_t of_core[] = {100, 1000, 5000, 250};

    return of_core[this_cpu()->index % 4];
}

static void reload(void)
{
    sysreg_write(PMEVCNTR5_EL0, (UINT64_C(1) << 32) - budget());
}

static uint32_t pmu_irq(void)
{
    return manifest_cpus(system_manifest())[this_cpu()->index].pmu_irq;
}

void __wrap_cpu_main(uint32_t index, struct guest_regs *regs)
{
    __real_cpu_main(index, regs);
    seen[index].least = UINT64_MAX;
    sysreg_write(MDCR_EL2, (sysreg_read(MDCR_EL2) & ~(MDCR_HPMN | MDCR_TRAPS)) | COUNTER | MDCR_HPME);
    sysreg_write(PMEVTYPER5_EL0, EVENT_L2D_REFILL | TYPE_NSH);
    reload();
    sysreg_write(PMINTENSET_EL1, COUNTER_BIT);
    sysreg_write(PMCNTENSET_EL0, COUNTER_BIT);
    gic_enable(pmu_irq(), this_cpu()->mpidr);
    arch_isb();
}

static void note(uint64_t past)
{
    uint32_t core = this_cpu()->index;

    if (++seen[core].overflows == 1) {
        return; /* EL2's own fetches on the way to the guest can cause it while interrupts are masked */
    }
    seen[core].least = past < seen[core].least ? past : seen[core].least;
    seen[core].most = past > seen[core].most ? past : seen[core].most;
    if (seen[core].overflows == OVERFLOWS) {
        sysreg_write(PMCNTENCLR_EL0, COUNTER_BIT);
        console_log("budget %lu: %u overflows, seen %lu to %lu events later", budget(), OVERFLOWS,
                    seen[core].least, seen[core].most);
    }
}

/* No domain here has a budget, so the hypervisor expects no such interrupt and turns it off. */
bool __wrap_trap_irq_short(void)
{
    uint64_t past = sysreg_read(PMEVCNTR5_EL0);
    bool overflow = (sysreg_read(PMOVSCLR_EL0) & COUNTER_BIT) != 0;
    bool done = __real_trap_irq_short();

    if (overflow) {
        sysreg_write(PMOVSCLR_EL0, COUNTER_BIT);
        reload();
        note(past);
        gic_enable(pmu_irq(), this_cpu()->mpidr);
        arch_isb();
    }
    return done;
}
