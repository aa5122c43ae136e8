/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual redistributors of a domain (IHI 0069, chapter 12.11), two frames of 64 KiB for each VCPU:
 * control, and the private interrupts' registers, which are in vgic_bank.c. Registers for LPIs are in
 * vgic_lpi.c.
 */
#include "vgic/vgic_internal.h"
#include "vgic/vgic_its.h"

#include <arch/vgic_frames.h>

#define GICR_CTLR  0x0000u
#define GICR_IIDR  0x0004u
#define GICR_TYPER 0x0008u
#define GICR_WAKER 0x0014u

#define TYPER_LAST (UINT64_C(1) << 4)

#define WAKER_PROCESSOR_SLEEP (1u << 1)
#define WAKER_CHILDREN_ASLEEP (1u << 2)

static uint64_t type_of(const struct vcpu *owner)
{
    /* affinity, processor number */
    uint64_t type = (uint64_t)owner->index << 32 | (uint64_t)owner->index << 8 |
                    vgic_lpi_redistributor_type(owner->domain);

    return owner->index + 1 == owner->domain->vcpu_count ? type | TYPER_LAST : type;
}

/* The control frame. */
static bool access_control(struct vcpu *owner, uint64_t offset, struct mmio_access *access, uint32_t *kick)
{
    if (vgic_lpi_register(owner, offset, access, kick)) {
        return true;
    }
    if (access->bytes == 8 && offset != GICR_TYPER) {
        return false;
    }
    if (access->bytes < 4) {
        return false;
    }
    if (access->write) {
        if (offset == GICR_WAKER) {
            owner->vgic.asleep = (access->value & WAKER_PROCESSOR_SLEEP) != 0;
        }
        return true;
    }
    switch (offset) {
    case GICR_IIDR:
        access->value = VGIC_IIDR;
        break;
    case GICR_TYPER:
        access->value = access->bytes == 8 ? type_of(owner) : (uint32_t)type_of(owner);
        break;
    case GICR_TYPER + 4:
        access->value = type_of(owner) >> 32;
        break;
    case GICR_WAKER:
        access->value = owner->vgic.asleep ? WAKER_PROCESSOR_SLEEP | WAKER_CHILDREN_ASLEEP : 0;
        break;
    default:
        access->value = vgic_identification(offset);
        break;
    }
    return true;
}

bool vgic_redist_access(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;
    uint64_t index = access->offset / BH_REDISTRIBUTOR_BYTES;
    uint64_t offset = access->offset % BH_REDISTRIBUTOR_BYTES;
    uint32_t kick = 0;
    bool ok = true;

    if (index >= domain->vcpu_count) {
        return false;
    }
    struct vcpu *owner = &domain->vcpus[index];

    spin_lock(&domain->vgic.lock);
    if (offset < BH_REDISTRIBUTOR_SGI_FRAME) {
        ok = access_control(owner, offset, access, &kick);
    } else if (offset >= BH_REDISTRIBUTOR_SGI_FRAME + 0x80 && offset < BH_REDISTRIBUTOR_SGI_FRAME + 0x1000) {
        struct mmio_access inner = *access;

        inner.offset = offset - BH_REDISTRIBUTOR_SGI_FRAME;
        ok = vgic_bank_access(vcpu, owner, &inner, &kick);
        access->value = inner.value;
    } else if (access->bytes != 4) {
        ok = false;
    } else if (!access->write) {
        access->value = 0;
    }
    vgic_finish(domain, vcpu, kick);
    return ok;
}
