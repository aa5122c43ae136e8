/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of requests. MPAM1_EL1 is written only together with VTTBR_EL2, between the same two barriers, so a
 * core always uses the tables and the label of the same domain.
 */
#include "mpam/mpam_labels.h"
#include "base/syndrome.h"
#include "console/console.h"
#include "core/mpam_label.h"
#include "mpam/mpam_core.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/sysreg.h>

#define PFR0  SYSREG_ENCODING(3u, 0u, 0u, 4u, 0u)
#define PFR1  SYSREG_ENCODING(3u, 0u, 0u, 4u, 1u)
#define FIELD 0xFull

#define FOR_EACH_FROM_LAST(X) X(7) X(6) X(5) X(4) X(3) X(2) X(1) X(0)

static bool has_as_many(const char *what, uint32_t stated, uint32_t found)
{
    if (found < stated) {
        console_log("MPAM: MPAMIDR_EL1 has %s %u, the platform file says %u", what, found, stated);
    }
    return found >= stated;
}

static bool cores_are_as_stated(void)
{
    const struct manifest_mpam *config = &system_manifest()->mpam;
    uint64_t ids = mpam_core_ids();

    return has_as_many("PARTID_MAX", config->partid_max, (uint32_t)(ids & MPAMIDR_PARTID_MAX)) &&
           has_as_many("PMG_MAX", config->pmg_max,
                       (uint32_t)(ids >> MPAMIDR_PMG_MAX_SHIFT & MPAMIDR_PMG_MAX)) &&
           has_as_many("virtual PARTIDs", config->virtual_partids, mpam_virtual_entries(ids));
}

/* Whether a core of this domain also runs a domain with virtual PARTIDs. */
static bool shares_with_virtual(const struct domain *domain)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct domain *other = domain_at(i);

        for (uint32_t j = 0; other->config->mpam_virtual != 0 && j < domain->vcpu_count; j++) {
            if (domain_is_on(other, domain->vcpus[j].cpu)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether the cores have the MPAM features that the manifest states. EL2 cannot read them if firmware has not
 * enabled MPAM. */
static bool cores_suffice(void)
{
    if (system_manifest()->mpam_components.count == 0 || mpam_state() == BH_MPAM_STATE_FIRMWARE) {
        return true;
    }
    if (mpam_state() == BH_MPAM_STATE_ABSENT) {
        console_log("MPAM: missing in the cores, stated in the platform file");
        return false;
    }
    return cores_are_as_stated();
}

bool mpam_label_domains(void)
{
    if (!cores_suffice()) {
        return false;
    }
    for (uint32_t i = 0; i < domain_count(); i++) {
        struct domain *domain = domain_at(i);
        const struct manifest_domain *config = domain->config;

        domain->mpam = (struct mpam_domain){0};
        if (mpam_state() == BH_MPAM_STATE_ENABLED) {
            domain->mpam = (struct mpam_domain){
                .label = mpam_label(config->mpam_partid, config->mpam_pmg),
                .first_partid = config->mpam_partid,
                .virtual_count = config->mpam_virtual,
                .apart = shares_with_virtual(domain),
            };
        }
    }
    return true;
}

/* Entries of register n: the domain's PARTIDs repeat, so every number that the guest can choose is mapped to
 * one of them. */
static uint64_t virtual_map(const struct mpam_domain *domain, uint32_t n)
{
    uint64_t map = 0;

    for (uint32_t i = 0; i < MPAM_VPM_ENTRIES; i++) {
        uint32_t partid = domain->first_partid + (n * MPAM_VPM_ENTRIES + i) % domain->virtual_count;

        map |= (uint64_t)partid << (16 * i);
    }
    return map;
}

/* Makes all entries valid: the core takes a larger number modulo the number of entries. */
static void load_virtual_map(const struct mpam_domain *domain)
{
    uint32_t registers = mpam_virtual_entries(mpam_core_ids()) / MPAM_VPM_ENTRIES;

    switch (registers) {
#define CASE(n)                                                                                              \
    case (n) + 1:                                                                                            \
        sysreg_write(MPAMVPM##n##_EL2, virtual_map(domain, n));                                              \
        __attribute__((fallthrough));
        FOR_EACH_FROM_LAST(CASE)
#undef CASE
    default:
        break;
    }
    sysreg_write(MPAMVPMV_EL2, (1ull << registers * MPAM_VPM_ENTRIES) - 1);
}

/* Switches traps and the map as well as labels, on a core that a guest with virtual PARTIDs uses. */
static __attribute__((noinline)) void enter_virtual(const struct vcpu *vcpu)
{
    const struct mpam_domain *domain = &vcpu->domain->mpam;

    if (domain->virtual_count == 0) {
        mpam_keep_from_guests();
        sysreg_write(MPAM1_EL1, domain->label);
        sysreg_write(MPAM0_EL1, domain->label);
        return;
    }
    load_virtual_map(domain);
    sysreg_write(MPAMHCR_EL2, MPAMHCR_TRAP_IDR | MPAMHCR_EL1_VIRTUAL | MPAMHCR_EL0_VIRTUAL);
    sysreg_write(MPAM2_EL2, mpam_own_control());
    sysreg_write(MPAM1_EL1, vcpu->mpam.mpam1);
    sysreg_write(MPAM0_EL1, vcpu->mpam.mpam0);
}

void mpam_enter(const struct vcpu *vcpu)
{
    const struct mpam_domain *domain = &vcpu->domain->mpam;

    if (domain->label == 0) {
        return;
    }
    if (domain->apart) {
        enter_virtual(vcpu);
        return;
    }
    sysreg_write(MPAM1_EL1, domain->label);
    sysreg_write(MPAM0_EL1, domain->label);
}

void mpam_leave(struct vcpu *vcpu)
{
    if (vcpu->domain->mpam.virtual_count != 0) {
        vcpu->mpam.mpam1 = sysreg_read(MPAM1_EL1) & MPAM_LABEL;
        vcpu->mpam.mpam0 = sysreg_read(MPAM0_EL1) & MPAM_LABEL;
    }
}

void mpam_guest_reset(struct vcpu *vcpu)
{
    vcpu->mpam = (struct mpam_guest){0, 0};
}

uint64_t mpam_id_fields(const struct vcpu *vcpu, uint32_t encoding)
{
    if (vcpu->domain->mpam.virtual_count == 0) {
        return 0;
    }
    switch (encoding) {
    case PFR0:
        return (uint64_t)(mpam_version() >> 4) << MPAM_PFR0_SHIFT;
    case PFR1:
        return (mpam_version() & FIELD) << MPAM_PFR1_FRAC_SHIFT;
    default:
        return 0;
    }
}

bool mpam_guest_ids(const struct vcpu *vcpu, uint64_t *value)
{
    uint32_t count = vcpu->domain->mpam.virtual_count;

    if (count == 0) {
        return false;
    }
    *value = (count - 1) | (mpam_core_ids() & MPAMIDR_PMG_MAX << MPAMIDR_PMG_MAX_SHIFT);
    return true;
}
