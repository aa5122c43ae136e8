/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of the virtual distributor (IHI 0069, chapter 12.9). One security state, affinity routing always
 * on, no LPIs, no message-based interrupts, no 1-of-N. What exists per interrupt is in vgic_bank.c, but for
 * routing.
 */
#include "vgic_internal.h"

#include <arch/gic.h>

#define GICD_CTLR    0x0000u
#define GICD_TYPER   0x0004u
#define GICD_IIDR    0x0008u
#define GICD_IROUTER 0x6000u

#define CTLR_GROUPS (VGIC_CONTROL_GROUP0 | VGIC_CONTROL_GROUP1)
#define CTLR_ARE    (1u << 4)
#define CTLR_DS     (1u << 6) /* one security state */

#define TYPER_ID_BITS   (9u << 19) /* ten bits of INTID */
#define TYPER_NO_1_OF_N (1u << 25)

static uint32_t write_control(struct domain *domain, uint32_t value)
{
    if ((value & CTLR_GROUPS) == domain->vgic.control) {
        return 0;
    }
    domain->vgic.control = value & CTLR_GROUPS;
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        domain->vcpus[i].vgic.stale = true;
    }
    return (1u << domain->vcpu_count) - 1;
}

/* Routes an SPI. Affinities other than a VCPU's route it nowhere and read back as 0xFF. */
static uint32_t write_route(struct domain *domain, uint32_t intid, uint64_t affinity)
{
    struct vgic_domain *vgic = &domain->vgic;
    const struct vgic_bank *bank = &vgic->spis[intid / 32 - 1];
    uint32_t bit = vgic_bit(intid);
    uint8_t target = affinity < domain->vcpu_count ? (uint8_t)affinity : (uint8_t)VGIC_NO_VCPU;

    if (target == vgic->target[intid - 32]) {
        return 0;
    }
    vgic->target[intid - 32] = target;
    if (target != VGIC_NO_VCPU && (bank->hw & bank->enabled & bit) != 0) {
        gic_enable(intid, domain->vcpus[target].cpu->mpidr);
    }
    return vgic_concerned(domain, NULL, intid & ~31u, bit & (vgic_pending(bank) | bank->resident), true);
}

/* GICD_IROUTER<n>, whole or one half. */
static bool access_route(struct vcpu *vcpu, struct mmio_access *access, uint32_t *kick)
{
    uint32_t intid = ((uint32_t)access->offset - GICD_IROUTER) / 8;
    bool upper = access->offset % 8 != 0;
    uint8_t *target;

    if (access->bytes < 4) {
        return false;
    }
    if (intid < 32 || intid >= VGIC_INTID_LIMIT) {
        access->value = access->write ? access->value : 0;
        return true;
    }
    target = &vcpu->domain->vgic.target[intid - 32];
    if (!access->write) {
        access->value = upper ? 0 : *target;
    } else if (!upper) {
        *kick |= write_route(vcpu->domain, intid, access->value & 0xFF00FFFFFF);
    } else if ((access->value & 0xFF) != 0) {
        *kick |= write_route(vcpu->domain, intid, VGIC_NO_VCPU);
    }
    return true;
}

/* Registers of the frame itself, 32 bits each. */
static uint32_t access_frame(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;

    if (access->write) {
        return access->offset == GICD_CTLR ? write_control(domain, (uint32_t)access->value) : 0;
    }
    switch (access->offset) {
    case GICD_CTLR:
        access->value = domain->vgic.control | CTLR_ARE | CTLR_DS;
        break;
    case GICD_TYPER:
        access->value = (VGIC_BANKS - 1) | TYPER_ID_BITS | TYPER_NO_1_OF_N;
        break;
    case GICD_IIDR:
        access->value = VGIC_IIDR;
        break;
    default:
        access->value = vgic_identification(access->offset);
        break;
    }
    return 0;
}

bool vgic_dist_access(struct vcpu *vcpu, struct mmio_access *access)
{
    uint32_t kick = 0;
    bool ok = true;

    if (access->offset >= VGIC_DIST_BYTES) {
        return false;
    }
    spin_lock(&vcpu->domain->vgic.lock);
    if (access->offset >= 0x80 && access->offset < 0x1000) {
        ok = vgic_bank_access(vcpu, NULL, access, &kick);
    } else if (access->offset >= GICD_IROUTER && access->offset < GICD_IROUTER + 1020 * 8) {
        ok = access_route(vcpu, access, &kick);
    } else if (access->bytes == 4) {
        kick = access_frame(vcpu, access);
    } else {
        ok = false;
    }
    vgic_finish(vcpu->domain, vcpu, kick);
    return ok;
}
