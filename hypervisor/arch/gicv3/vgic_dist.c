/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of the virtual distributor (IHI 0069, chapter 12.9). One security state, affinity routing always
 * on, no message-based SPIs, no 1-of-N. The state of each interrupt is in vgic_bank.c, except routing; LPIs
 * have no registers here (vgic_lpi.c).
 */
#include "vgic/vgic_internal.h"
#include "vgic/vgic_its.h"
#include "vgic/vgic_model.h"

#include <arch/vgic_frames.h>

#define GICD_CTLR    0x0000u
#define GICD_TYPER   0x0004u
#define GICD_IIDR    0x0008u
#define GICD_IROUTER 0x6000u

#define CTLR_ARE (1u << 4)
#define CTLR_DS  (1u << 6) /* one security state */

#define TYPER_ID_BITS   (9u << 19) /* ten bits of INTID */
#define TYPER_NO_1_OF_N (1u << 25)

/* GICD_IROUTER<n>, the whole register or one half. */
static bool access_route(struct vcpu *vcpu, struct mmio_access *access, uint32_t *kick)
{
    uint32_t intid = ((uint32_t)access->offset - GICD_IROUTER) / 8;
    bool upper = access->offset % 8 != 0;
    uint8_t *target;

    if (access->bytes < 4) {
        return false;
    }
    if (intid < GIC_PRIVATE_COUNT || intid >= VGIC_INTID_LIMIT) {
        access->value = access->write ? access->value : 0;
        return true;
    }
    target = &vcpu->domain->vgic.target[intid - GIC_PRIVATE_COUNT];
    if (!access->write) {
        access->value = upper ? 0 : *target;
    } else if (!upper) {
        uint64_t affinity = access->value & 0xFF00FFFFFF;

        /* An affinity that no VCPU has routes the interrupt to no VCPU and reads back as 0xFF. */
        *kick |= vgic_route_spi(vcpu->domain, intid,
                                affinity < vcpu->domain->vcpu_count ? (uint32_t)affinity : VGIC_NO_VCPU);
    } else if ((access->value & 0xFF) != 0) {
        *kick |= vgic_route_spi(vcpu->domain, intid, VGIC_NO_VCPU);
    }
    return true;
}

uint32_t vgic_identification(uint64_t offset)
{
    switch (offset) {
    case 0xFFE0:
        return 0x92; /* PIDR0: part number, bits 7:0 */
    case 0xFFE4:
        return 0xB4; /* PIDR1: designer, part number 11:8 */
    case 0xFFE8:
        return 0x3B; /* PIDR2: GICv3 */
    case 0xFFD0:
        return 0x44; /* PIDR4 */
    case 0xFFF0:
        return 0x0D; /* CIDR0 to CIDR3 */
    case 0xFFF4:
        return 0xF0;
    case 0xFFF8:
        return 0x05;
    case 0xFFFC:
        return 0xB1;
    default:
        return 0;
    }
}

/* Registers of the frame itself, 32 bits each. */
static uint32_t read_frame(const struct domain *domain, uint64_t offset)
{
    switch (offset) {
    case GICD_CTLR:
        return domain->vgic.control | CTLR_ARE | CTLR_DS;
    case GICD_TYPER:
        return VGIC_SPI_BANKS | TYPER_ID_BITS | TYPER_NO_1_OF_N | vgic_lpi_distributor_type(domain);
    case GICD_IIDR:
        return VGIC_IIDR;
    default:
        return vgic_identification(offset);
    }
}

bool vgic_dist_read_unlocked(const struct domain *domain, uint64_t offset, uint64_t *value)
{
    if (offset > GICD_IIDR) {
        return false;
    }
    *value = read_frame(domain, offset);
    return true;
}

bool vgic_dist_access(struct vcpu *vcpu, struct mmio_access *access)
{
    uint32_t kick = 0;
    bool ok = true;

    if (access->offset >= BH_GICV3_DISTRIBUTOR_BYTES) {
        return false;
    }
    spin_lock(&vcpu->domain->vgic.lock);
    if (access->offset >= 0x80 && access->offset < 0x1000) {
        ok = vgic_bank_access(vcpu, NULL, access, &kick);
    } else if (access->offset >= GICD_IROUTER && access->offset < GICD_IROUTER + BH_FIRST_SPECIAL_INTID * 8) {
        ok = access_route(vcpu, access, &kick);
    } else if (access->bytes != 4) {
        ok = false;
    } else if (!access->write) {
        access->value = read_frame(vcpu->domain, access->offset);
    } else if (access->offset == GICD_CTLR) {
        kick = vgic_write_control(vcpu->domain, (uint32_t)access->value);
    }
    vgic_finish(vcpu->domain, vcpu, kick);
    return ok;
}
