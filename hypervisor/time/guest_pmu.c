/* SPDX-License-Identifier: Apache-2.0
 *
 * PMCR_EL0.E of the hardware stays set, because the interrupts of EL2's counters may depend on it; the
 * guest's E is emulated by enabling its counters one by one. Every value that is written has zeros in the
 * bits of other counters, and a counter's registers are selected only after its number was checked.
 */
#include "time/guest_pmu.h"
#include "base/syndrome.h"
#include "time/pmu.h"
#include "vgic/vgic.h"
#include "vm/domain.h"
#include "vm/vcpu.h"
#include <arch/barrier.h>
#include <arch/speculation.h>
#include <arch/sysreg.h>
#include <string.h>

#define CYCLES        (1u << 31) /* the cycle counter, in masks */
#define SELECT_CYCLES 31u        /* in PMSELR_EL0 */

#define CONTROL_E    (1u << 0)
#define CONTROL_P    (1u << 1)
#define CONTROL_C    (1u << 2)
#define CONTROL_D    (1u << 3)
#define CONTROL_DP   (1u << 5)
#define CONTROL_LC   (1u << 6)
#define CONTROL_KEPT (CONTROL_E | CONTROL_D | CONTROL_DP | CONTROL_LC)
#define CONTROL_HW   (CONTROL_D | CONTROL_DP | CONTROL_LC) /* concern only the cycle counter */
#define CONTROL_ID   0xFFFF0000u                           /* IMP, IDCODE */
#define CONTROL_N(n) ((n) << 11)

#define FILTER_P    (1u << 31)
#define FILTER_U    (1u << 30)
#define FILTER      (FILTER_P | FILTER_U) /* NSH stays 0: nothing is counted at EL2 */
#define EVENT_V3    0x3FFu
#define EVENT_V3P1  0xFFFFu
#define EVENT_INCR  0x00u /* SW_INCR */
#define EVENT_CHAIN 0x1Eu

#define PMU_V3P1     4u
#define PMU_V3P4     5u
#define PMUVER_SHIFT 8
#define PMMIR_SLOTS  0xFFu
#define USER_ENABLES 0xFu

#define SPSR_LEVEL 0xCu

static uint32_t version(void)
{
    uint32_t own = pmu_version();

    return own < PMU_V3P4 ? own : PMU_V3P4; /* in later versions, long counters follow PMCR_EL0.LP */
}

/* Number of EL1's counters without the cycle counter: MDCR_EL2.HPMN, never more than there are registers. */
static uint32_t counter_count(void)
{
    uint32_t count = (uint32_t)sysreg_read(MDCR_EL2) & 0x1F;

    return count < GUEST_PMU_MAX_COUNTERS ? count : GUEST_PMU_MAX_COUNTERS;
}

static uint32_t owned(void)
{
    return CYCLES | ((1u << counter_count()) - 1);
}

static uint32_t type_mask(void)
{
    return FILTER | (version() >= PMU_V3P1 ? EVENT_V3P1 : EVENT_V3);
}

bool guest_pmu_is_on(const struct cpu *cpu)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (domain_has_flag(domain_at(i), BH_DOMAIN_FLAG_PMU) && domain_is_on(domain_at(i), cpu)) {
            return true;
        }
    }
    return false;
}

bool guest_pmu_is_given(const struct vcpu *vcpu)
{
    return domain_has_flag(vcpu->domain, BH_DOMAIN_FLAG_PMU);
}

uint64_t guest_pmu_dfr0(const struct vcpu *vcpu)
{
    return guest_pmu_is_given(vcpu) ? (uint64_t)version() << PMUVER_SHIFT : 0;
}

/* Access counter n, which must be below counter_count(); afterwards EL2's counter is selected again. */
static uint64_t read_selected(uint32_t n, bool type)
{
    uint64_t value;

    pmu_select(n);
    value = type ? sysreg_read(PMXEVTYPER_EL0) : sysreg_read(PMXEVCNTR_EL0);
    pmu_select(counter_count());
    return value;
}

static void write_selected(uint32_t n, bool type, uint32_t value)
{
    pmu_select(n);
    if (type) {
        sysreg_write(PMXEVTYPER_EL0, value & type_mask());
    } else {
        sysreg_write(PMXEVCNTR_EL0, value);
    }
    pmu_select(counter_count());
}

static bool counts(const struct guest_pmu *pmu)
{
    return (pmu->control & CONTROL_E) != 0;
}

static void set_line(struct vcpu *vcpu, bool level)
{
    if (level != vcpu->pmu.line) {
        vcpu->pmu.line = level;
        vgic_set_private_level(vcpu, BH_GUEST_PMU_INTID, level);
    }
}

/* Sets the hardware's enables and interrupt enables, and the virtual interrupt, to what the guest has
 * written. */
static void settle(struct vcpu *vcpu)
{
    const struct guest_pmu *pmu = &vcpu->pmu;
    uint32_t mine = owned();
    uint32_t enabled = counts(pmu) ? pmu->enabled : 0;
    uint32_t interrupts = counts(pmu) ? pmu->interrupts : 0;
    bool level = (sysreg_read(PMOVSSET_EL0) & interrupts & mine) != 0;

    if (level) {
        interrupts = 0; /* its virtual interrupt is already asserted */
    }
    sysreg_write(PMCNTENCLR_EL0, mine & ~enabled);
    sysreg_write(PMCNTENSET_EL0, mine & enabled);
    sysreg_write(PMINTENCLR_EL1, mine & ~interrupts);
    sysreg_write(PMINTENSET_EL1, mine & interrupts);
    arch_isb();
    set_line(vcpu, level);
}

static void disable_counters(uint32_t mine)
{
    sysreg_write(PMCNTENCLR_EL0, mine);
    sysreg_write(PMINTENCLR_EL1, mine);
    arch_isb();
}

static void load(const struct vcpu *vcpu)
{
    const struct guest_pmu *pmu = &vcpu->pmu;
    uint32_t count = counter_count();

    for (uint32_t n = 0; n < count; n++) {
        pmu_select(n);
        sysreg_write(PMXEVTYPER_EL0, pmu->types[n]);
        sysreg_write(PMXEVCNTR_EL0, pmu->counts[n]);
    }
    pmu_select(count);
    sysreg_write(PMCR_EL0, CONTROL_E | (pmu->control & CONTROL_HW));
    sysreg_write(PMCCFILTR_EL0, pmu->cycle_filter);
    sysreg_write(PMCCNTR_EL0, pmu->cycles);
    sysreg_write(PMUSERENR_EL0, pmu->user);
    sysreg_write(PMOVSCLR_EL0, owned() & ~pmu->overflowed);
    sysreg_write(PMOVSSET_EL0, owned() & pmu->overflowed);
}

void guest_pmu_reset(struct vcpu *vcpu)
{
    if (!guest_pmu_is_given(vcpu)) {
        return;
    }
    memset(&vcpu->pmu, 0, sizeof vcpu->pmu);
    disable_counters(owned());
    load(vcpu);
}

void guest_pmu_save(struct vcpu *vcpu)
{
    struct guest_pmu *pmu = &vcpu->pmu;
    uint32_t count = counter_count();

    if (!guest_pmu_is_given(vcpu)) {
        return;
    }
    settle(vcpu); /* an overflow that was not yet handled */
    disable_counters(owned());
    for (uint32_t n = 0; n < count; n++) {
        pmu_select(n);
        pmu->types[n] = (uint32_t)sysreg_read(PMXEVTYPER_EL0) & type_mask();
        pmu->counts[n] = (uint32_t)sysreg_read(PMXEVCNTR_EL0);
    }
    pmu_select(count);
    pmu->cycle_filter = (uint32_t)sysreg_read(PMCCFILTR_EL0) & FILTER;
    pmu->cycles = sysreg_read(PMCCNTR_EL0);
    pmu->user = (uint32_t)sysreg_read(PMUSERENR_EL0) & USER_ENABLES;
    pmu->overflowed = (uint32_t)sysreg_read(PMOVSSET_EL0) & owned();
    sysreg_write(PMOVSCLR_EL0, owned());
    sysreg_write(PMUSERENR_EL0, 0);
    arch_isb();
}

void guest_pmu_restore(struct vcpu *vcpu)
{
    if (guest_pmu_is_given(vcpu)) {
        load(vcpu);
        settle(vcpu);
    }
}

void guest_pmu_overflow(struct vcpu *vcpu)
{
    if (guest_pmu_is_given(vcpu)) {
        settle(vcpu);
    }
}

static void write_control(struct guest_pmu *pmu, uint32_t value)
{
    uint32_t count = counter_count();

    pmu->control = value & CONTROL_KEPT;
    if ((value & CONTROL_P) != 0) {
        for (uint32_t n = 0; n < count; n++) {
            write_selected(n, false, 0);
        }
    }
    sysreg_write(PMCR_EL0, CONTROL_E | (value & CONTROL_HW));
    if ((value & CONTROL_C) != 0) {
        sysreg_write(PMCCNTR_EL0, 0);
    }
}

static bool is_user(void)
{
    return (sysreg_read(SPSR_EL2) & SPSR_LEVEL) == 0;
}

/* Emulated, because a guest's counters do not count at EL2, where the instruction would be executed. */
static void software_increment(const struct guest_pmu *pmu, uint32_t which)
{
    uint32_t count = counter_count();
    uint32_t filter = is_user() ? FILTER_U : FILTER_P;
    bool carry = false;

    for (uint32_t n = 0; n < count; n++) {
        uint32_t type = (uint32_t)read_selected(n, true) & type_mask();
        bool chained = carry && n % 2 == 1 && (type & ~FILTER) == EVENT_CHAIN;
        bool asked = (which >> n & 1) != 0 && (type & ~FILTER) == EVENT_INCR;

        carry = false;
        if ((chained || asked) && counts(pmu) && (pmu->enabled >> n & 1) != 0 && (type & filter) == 0) {
            uint32_t next = (uint32_t)read_selected(n, false) + 1;

            write_selected(n, false, next);
            carry = next == 0;
            if (carry) {
                sysreg_write(PMOVSSET_EL0, 1u << n);
            }
        }
    }
}

/* Accesses PMEVCNTR<n>_EL0 or PMEVTYPER<n>_EL0. */
static bool access_counter(uint32_t n, bool type, bool write, uint64_t *value)
{
    uint32_t count = counter_count();

    if (n >= count) {
        return false;
    }
    n = (uint32_t)(n & arch_index_mask(n, count));
    if (write) {
        write_selected(n, type, (uint32_t)*value);
    } else {
        *value = read_selected(n, type) & (type ? type_mask() : UINT32_MAX);
    }
    return true;
}

static void access_cycle_filter(bool write, uint64_t *value)
{
    if (write) {
        sysreg_write(PMCCFILTR_EL0, *value & FILTER);
    } else {
        *value = sysreg_read(PMCCFILTR_EL0) & FILTER;
    }
}

/* Accesses PMXEVTYPER_EL0 or PMXEVCNTR_EL0. If no counter of the guest is selected, they read as zero. */
static void access_selected(const struct guest_pmu *pmu, bool type, bool write, uint64_t *value)
{
    if (pmu->selected == SELECT_CYCLES && type) {
        access_cycle_filter(write, value);
    } else if (!access_counter(pmu->selected, type, write, value) && !write) {
        *value = 0;
    }
}

/* Accesses a mask of counters through its set register or its clear register. */
static void access_mask(uint32_t *mask, bool set, bool write, uint64_t *value)
{
    uint32_t bits = (uint32_t)*value & owned();

    if (!write) {
        *value = *mask;
    } else if (set) {
        *mask |= bits;
    } else {
        *mask &= ~bits;
    }
}

static void access_overflows(bool set, bool write, uint64_t *value)
{
    if (!write) {
        *value = sysreg_read(PMOVSSET_EL0) & owned();
    } else if (set) {
        sysreg_write(PMOVSSET_EL0, (uint32_t)*value & owned());
    } else {
        sysreg_write(PMOVSCLR_EL0, (uint32_t)*value & owned());
    }
}

static void access_control(struct guest_pmu *pmu, bool write, uint64_t *value)
{
    if (write) {
        write_control(pmu, (uint32_t)*value);
    } else {
        *value = (sysreg_read(PMCR_EL0) & CONTROL_ID) | CONTROL_N(counter_count()) | pmu->control;
    }
}

/* Value of PMCEID<n>_EL0; events from 0x4000 on are in the upper half since Armv8.1. */
static uint64_t known_events(uint64_t implemented)
{
    return version() >= PMU_V3P1 ? implemented : (uint32_t)implemented;
}

#define REGISTER(op1, crm, op2) SYSREG_ENCODING(3u, op1, 9u, crm, op2)

/* Accesses registers with CRn 9. */
static bool access_common(struct guest_pmu *pmu, uint32_t encoding, bool write, uint64_t *value)
{
    switch (encoding) {
    case REGISTER(3u, 12u, 0u):
        access_control(pmu, write, value);
        return true;
    case REGISTER(3u, 12u, 1u):
    case REGISTER(3u, 12u, 2u):
        access_mask(&pmu->enabled, encoding == REGISTER(3u, 12u, 1u), write, value);
        return true;
    case REGISTER(3u, 12u, 3u):
    case REGISTER(3u, 14u, 3u):
        access_overflows(encoding == REGISTER(3u, 14u, 3u), write, value);
        return true;
    case REGISTER(3u, 12u, 4u):
        if (write) {
            software_increment(pmu, (uint32_t)*value);
        }
        return write;
    case REGISTER(3u, 12u, 5u):
        if (write) {
            pmu->selected = (uint32_t)*value & 0x1F;
        } else {
            *value = pmu->selected;
        }
        return true;
    case REGISTER(3u, 12u, 6u):
        *value = known_events(sysreg_read(PMCEID0_EL0));
        return !write;
    case REGISTER(3u, 12u, 7u):
        *value = known_events(sysreg_read(PMCEID1_EL0));
        return !write;
    case REGISTER(3u, 13u, 0u):
        if (write) {
            sysreg_write(PMCCNTR_EL0, *value);
        } else {
            *value = sysreg_read(PMCCNTR_EL0);
        }
        return true;
    case REGISTER(3u, 13u, 1u):
    case REGISTER(3u, 13u, 2u):
        access_selected(pmu, encoding == REGISTER(3u, 13u, 1u), write, value);
        return true;
    case REGISTER(3u, 14u, 0u):
        if (!write) {
            *value = sysreg_read(PMUSERENR_EL0) & USER_ENABLES;
        } else if (!is_user()) {
            sysreg_write(PMUSERENR_EL0, *value & USER_ENABLES);
        }
        return !write || !is_user();
    case REGISTER(0u, 14u, 1u):
    case REGISTER(0u, 14u, 2u):
        access_mask(&pmu->interrupts, encoding == REGISTER(0u, 14u, 1u), write, value);
        return true;
    case REGISTER(0u, 14u, 6u):
        if (write || version() < PMU_V3P4) {
            return false;
        }
        *value = sysreg_read(PMMIR_EL1) & PMMIR_SLOTS;
        return true;
    default:
        return false;
    }
}

bool guest_pmu_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value)
{
    const uint32_t counters =
        SYSREG_ENCODING(3u, 3u, 14u, 8u, 0u); /* PMEVCNTR0_EL0; PMEVTYPER0_EL0 is 32 on */
    bool known;

    if (!guest_pmu_is_given(vcpu)) {
        return false;
    }
    if (encoding == SYSREG_ENCODING(3u, 3u, 14u, 15u, 7u)) {
        access_cycle_filter(write, value);
        known = true;
    } else if (encoding >= counters && encoding < counters + 64) {
        known = access_counter((encoding - counters) % 32, encoding - counters >= 32, write, value);
    } else {
        known = access_common(&vcpu->pmu, encoding, write, value);
    }
    if (known && write) {
        settle(vcpu);
    }
    return known;
}
