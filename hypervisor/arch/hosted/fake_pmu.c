/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of PMUv3 that EL2 uses: counters, enables, overflows and the interrupt line. Counter 31 is the
 * cycle counter.
 */
#include "fake_pmu.h"
#include "fake_gic.h"

#include <string.h>

#define CYCLES        31u
#define PMCR_E        1u
#define PMCR_P        2u
#define PMCR_C        4u
#define PMCR_WRITABLE 0xE9u
#define MDCR_HPMN     0x1Fu
#define MDCR_HPME     0x80u
#define TYPE_P        (1u << 31)
#define TYPE_U        (1u << 30)
#define TYPE_NSH      (1u << 27)
#define CYCLE_EVENT   0x11u

struct monitors {
    uint64_t counters[32];
    uint32_t types[32];
    uint32_t enabled, interrupts, overflowed, selected, control, user;
    bool line;
};

static struct {
    uint32_t counters;
    uint32_t intid;
    struct monitors core[FAKE_CORES];
} pmu;

static struct monitors *here(void)
{
    return &pmu.core[fake_current_core()];
}

static uint32_t own_count(void)
{
    return (uint32_t)fake_sysreg(SYSREG_ID_MDCR_EL2) & MDCR_HPMN;
}

/* PMCR_EL0.E enables the counters below HPMN and the cycle counter, MDCR_EL2.HPME the others. */
static uint32_t switched_on(const struct monitors *m)
{
    uint32_t low = 1u << CYCLES | ((1u << own_count()) - 1);

    return ((m->control & PMCR_E) != 0 ? low : 0) |
           ((fake_sysreg(SYSREG_ID_MDCR_EL2) & MDCR_HPME) != 0 ? ~low : 0);
}

static void update_line(void)
{
    struct monitors *m = here();
    bool high = (m->overflowed & m->interrupts & switched_on(m)) != 0;

    if (high != m->line) {
        m->line = high;
        fake_gic_set_line(pmu.intid, high);
    }
}

static uint32_t existing(void)
{
    return 1u << CYCLES | ((1u << pmu.counters) - 1);
}

static void reset_events(struct monitors *m)
{
    for (uint32_t n = 0; n < pmu.counters; n++) { /* a write at EL2 resets all counters */
        m->counters[n] = 0;
    }
}

static bool read(enum sysreg_id id, uint64_t *value)
{
    struct monitors *m = here();
    bool selectable = m->selected < pmu.counters;

    switch (id) {
    case SYSREG_ID_PMCR_EL0:
        *value = 0x41030000u | pmu.counters << 11 | m->control;
        return true;
    case SYSREG_ID_PMCNTENSET_EL0:
    case SYSREG_ID_PMCNTENCLR_EL0:
        *value = m->enabled;
        return true;
    case SYSREG_ID_PMINTENSET_EL1:
    case SYSREG_ID_PMINTENCLR_EL1:
        *value = m->interrupts;
        return true;
    case SYSREG_ID_PMOVSSET_EL0:
    case SYSREG_ID_PMOVSCLR_EL0:
        *value = m->overflowed;
        return true;
    case SYSREG_ID_PMSELR_EL0:
        *value = m->selected;
        return true;
    case SYSREG_ID_PMXEVCNTR_EL0:
        *value = selectable ? m->counters[m->selected] : 0;
        return true;
    case SYSREG_ID_PMXEVTYPER_EL0:
        *value = selectable || m->selected == CYCLES ? m->types[m->selected] : 0;
        return true;
    case SYSREG_ID_PMCCNTR_EL0:
        *value = m->counters[CYCLES];
        return true;
    case SYSREG_ID_PMCCFILTR_EL0:
        *value = m->types[CYCLES];
        return true;
    case SYSREG_ID_PMUSERENR_EL0:
        *value = m->user;
        return true;
    case SYSREG_ID_PMCEID0_EL0:
    case SYSREG_ID_PMCEID1_EL0:
        *value = ~0ull;
        return true;
    default:
        return false;
    }
}

static void write_control(struct monitors *m, uint32_t value)
{
    m->control = value & PMCR_WRITABLE;
    if ((value & PMCR_P) != 0) {
        reset_events(m);
    }
    if ((value & PMCR_C) != 0) {
        m->counters[CYCLES] = 0;
    }
}

static void write_selected(struct monitors *m, bool type, uint64_t value)
{
    if (m->selected < pmu.counters && !type) {
        m->counters[m->selected] = (uint32_t)value;
    } else if ((m->selected < pmu.counters || m->selected == CYCLES) && type) {
        m->types[m->selected] = (uint32_t)value;
    }
}

static bool write(enum sysreg_id id, uint64_t value)
{
    struct monitors *m = here();
    uint32_t bits = (uint32_t)value & existing();

    switch (id) {
    case SYSREG_ID_PMCR_EL0:
        write_control(m, (uint32_t)value);
        break;
    case SYSREG_ID_PMCNTENSET_EL0:
        m->enabled |= bits;
        break;
    case SYSREG_ID_PMCNTENCLR_EL0:
        m->enabled &= ~bits;
        break;
    case SYSREG_ID_PMINTENSET_EL1:
        m->interrupts |= bits;
        break;
    case SYSREG_ID_PMINTENCLR_EL1:
        m->interrupts &= ~bits;
        break;
    case SYSREG_ID_PMOVSSET_EL0:
        m->overflowed |= bits;
        break;
    case SYSREG_ID_PMOVSCLR_EL0:
        m->overflowed &= ~bits;
        break;
    case SYSREG_ID_PMSELR_EL0:
        m->selected = (uint32_t)value & 0x1F;
        return true;
    case SYSREG_ID_PMXEVCNTR_EL0:
    case SYSREG_ID_PMXEVTYPER_EL0:
        write_selected(m, id == SYSREG_ID_PMXEVTYPER_EL0, value);
        return true;
    case SYSREG_ID_PMCCNTR_EL0:
        m->counters[CYCLES] = value;
        return true;
    case SYSREG_ID_PMCCFILTR_EL0:
        m->types[CYCLES] = (uint32_t)value;
        return true;
    case SYSREG_ID_PMUSERENR_EL0:
        m->user = (uint32_t)value & 0xF;
        return true;
    default:
        return false;
    }
    update_line();
    return true;
}

static bool filtered(uint32_t type, enum fake_level level)
{
    switch (level) {
    case FAKE_EL0:
        return (type & TYPE_U) != 0;
    case FAKE_EL1:
        return (type & TYPE_P) != 0;
    default:
        return (type & TYPE_NSH) == 0;
    }
}

void fake_pmu_cause(uint32_t event, enum fake_level level, uint32_t count)
{
    struct monitors *m = here();
    uint32_t counting = m->enabled & switched_on(m) & existing();

    for (uint32_t n = 0; n < 32; n++) {
        bool chosen = n == CYCLES ? event == CYCLE_EVENT : (m->types[n] & 0xFFFF) == event;

        if ((counting >> n & 1) == 0 || !chosen || filtered(m->types[n], level)) {
            continue;
        }
        m->counters[n] += count;
        if (n != CYCLES && m->counters[n] >> 32 != 0) {
            m->counters[n] = (uint32_t)m->counters[n];
            m->overflowed |= 1u << n;
        }
    }
    update_line();
}

uint64_t fake_pmu_counter(uint32_t n)
{
    return here()->counters[n % 32];
}

uint32_t fake_pmu_type(uint32_t n)
{
    return here()->types[n % 32];
}

void fake_pmu_init(uint32_t counters, uint32_t version, uint32_t intid)
{
    memset(&pmu, 0, sizeof pmu);
    pmu.counters = counters;
    pmu.intid = intid;
    for (uint32_t core = 0; core < FAKE_CORES; core++) {
        for (uint32_t n = 0; n < 32; n++) {
            pmu.core[core].types[n] = 0x3FF; /* unknown at reset */
            pmu.core[core].counters[n] = 0xDEAD;
        }
        fake_set_core_sysreg(core, SYSREG_ID_ID_AA64DFR0_EL1, version << 8);
    }
    fake_hook_monitors(read, write);
}
