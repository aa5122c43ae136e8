/* SPDX-License-Identifier: Apache-2.0
 *
 * The counters with the highest numbers are EL2's (MDCR_EL2.HPMN). Guests cannot access the monitors'
 * registers (MDCR_EL2.TPM), so PMSELR_EL0 keeps selecting EL2's first counter, if EL2 has one.
 */
#include "time/pmu.h"
#include <arch/barrier.h>
#include <arch/sysreg.h>

#define PMCR_ENABLE         (1ull << 0)
#define PMCR_RESET_COUNTERS ((1ull << 1) | (1ull << 2)) /* with E = 0 */
#define PMCR_N(pmcr)        ((uint32_t)((pmcr) >> 11 & 0x1F))

#define MDCR_HPME (1ull << 7)  /* EL2's counters count */
#define MDCR_HLP  (1ull << 26) /* and have 64 bits */

#define TYPE_NSH (1ull << 27) /* also count at EL2: work done there for a guest is charged to the guest */

#define DFR0_PMUVER(dfr0)          ((uint32_t)((dfr0) >> 8 & 0xF))
#define PMU_NONE                   0x0u
#define PMU_IMPLEMENTATION_DEFINED 0xFu
#define PMU_V3P5                   0x6u

#define NARROW_BITS 32u
#define WIDE_BITS   64u

uint32_t pmu_version(void)
{
    uint32_t version = DFR0_PMUVER(sysreg_read(ID_AA64DFR0_EL1));

    return version != PMU_IMPLEMENTATION_DEFINED ? version : PMU_NONE;
}

/* The architecture's common events have a bit in PMCEID<n>_EL0 (DDI 0487, D13); other events are specific to
 * the core and are not checked. */
static bool counts_event(uint32_t event)
{
    uint32_t number = event & 0x1F;

    switch (event & ~0x1Fu) {
    case 0:
        return (sysreg_read(PMCEID0_EL0) >> number & 1) != 0;
    case 0x20:
        return (sysreg_read(PMCEID1_EL0) >> number & 1) != 0;
    default:
        return true;
    }
}

static bool has_second(const struct pmu *pmu)
{
    return pmu->count > 1 || pmu->backup_events != 0;
}

static uint64_t all_bits(const struct pmu *pmu)
{
    return (has_second(pmu) ? 3ull : 1ull) << pmu->counter;
}

void pmu_select(uint32_t counter)
{
    sysreg_write(PMSELR_EL0, counter);
    arch_isb();
}

/* PMCR_EL0.E is set because the emulator's counters interrupt only then, EL2's too; it enables no other
 * counter. */
static void keep_counters(const struct pmu *pmu, const uint32_t events[PMU_COUNTERS])
{
    if (has_second(pmu)) {
        pmu_select(pmu->counter + 1);
        sysreg_write(PMXEVTYPER_EL0, (pmu->count > 1 ? events[1] : events[0]) | TYPE_NSH);
    }
    pmu_select(pmu->counter);
    sysreg_write(PMXEVTYPER_EL0, events[0] | TYPE_NSH);
    sysreg_write(PMINTENSET_EL1, all_bits(pmu));
    sysreg_write(PMCR_EL0, PMCR_ENABLE);
    arch_isb();
}

bool pmu_init(struct pmu *pmu, const uint32_t events[PMU_COUNTERS], uint32_t backup_events, bool given,
              uint64_t *mdcr)
{
    uint32_t count = events[0] == 0 ? 0 : events[1] == 0 ? 1 : 2;
    uint32_t kept = count == 1 && backup_events != 0 ? 2 : count;
    uint32_t counters;

    *mdcr = 0;
    if (pmu_version() == PMU_NONE) {
        return kept == 0 && !given;
    }
    sysreg_write(PMCR_EL0, PMCR_RESET_COUNTERS);
    sysreg_write(PMCNTENCLR_EL0, 0xFFFFFFFF);
    sysreg_write(PMINTENCLR_EL1, 0xFFFFFFFF);
    sysreg_write(PMOVSCLR_EL0, 0xFFFFFFFF);
    sysreg_write(PMUSERENR_EL0, 0);
    counters = PMCR_N(sysreg_read(PMCR_EL0));
    if (kept == 0) {
        *mdcr = counters; /* some cores do not permit HPMN = 0 */
        return true;
    }
    if (counters <= kept || !counts_event(events[0]) || (count > 1 && !counts_event(events[1]))) {
        return false;
    }
    *mdcr = (counters - kept) | MDCR_HPME | (pmu_version() >= PMU_V3P5 ? MDCR_HLP : 0);
    pmu->counter = counters - kept;
    pmu->count = count;
    pmu->backup_events = count == 1 ? backup_events : 0;
    keep_counters(pmu, events);
    return true;
}

uint32_t pmu_counter_bits(void)
{
    return pmu_version() >= PMU_V3P5 ? WIDE_BITS : NARROW_BITS;
}

void pmu_start(const struct pmu *pmu, const uint64_t values[PMU_COUNTERS])
{
    if (has_second(pmu)) {
        pmu_select(pmu->counter + 1);
        sysreg_write(PMXEVCNTR_EL0, pmu->count > 1 ? values[1] : values[0] - pmu->backup_events);
        pmu_select(pmu->counter);
    }
    sysreg_write(PMXEVCNTR_EL0, values[0]);
    sysreg_write(PMCNTENSET_EL0, all_bits(pmu));
    arch_isb();
}

bool pmu_has_overflowed(const struct pmu *pmu)
{
    return (sysreg_read(PMOVSSET_EL0) & all_bits(pmu)) != 0;
}

void pmu_pause(const struct pmu *pmu)
{
    sysreg_write(PMCNTENCLR_EL0, all_bits(pmu));
    arch_isb();
}

void pmu_resume(const struct pmu *pmu)
{
    sysreg_write(PMCNTENSET_EL0, all_bits(pmu));
    arch_isb();
}

void pmu_stop(const struct pmu *pmu, uint64_t values[PMU_COUNTERS])
{
    sysreg_write(PMCNTENCLR_EL0, all_bits(pmu));
    arch_isb();
    values[0] = sysreg_read(PMXEVCNTR_EL0);
    values[1] = 0;
    if (pmu->count > 1) {
        pmu_select(pmu->counter + 1);
        values[1] = sysreg_read(PMXEVCNTR_EL0);
        pmu_select(pmu->counter);
    }
    sysreg_write(PMOVSCLR_EL0, all_bits(pmu));
    arch_isb();
}
