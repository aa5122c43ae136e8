/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of the virtual GICv2 distributor (IHI 0048, chapter 4.3), without security extensions. Registers
 * of the first 32 interrupts belong to the accessing VCPU. State that both versions have for each interrupt
 * is in vgic_bank.c; this file has the targets, and the software-generated interrupts with their senders.
 */
#include "vgic/vgic.h"
#include "vgic/vgic_internal.h"
#include "vgic/vgic_model.h"

#include <arch/vgic_frames.h>
#include <arch/vgic_sgi.h>

#define GICD_CTLR      0x000u
#define GICD_TYPER     0x004u
#define GICD_IIDR      0x008u
#define BANKS_START    0x080u /* IGROUPR */
#define ISPENDR0       0x200u
#define ICPENDR0       0x280u
#define IPRIORITYR     0x400u
#define ITARGETSR      0x800u
#define ICFGR          0xC00u
#define ICFGR_END      0xD00u
#define GICD_SGIR      0xF00u
#define CPENDSGIR      0xF10u
#define SPENDSGIR      0xF20u
#define SPENDSGIR_END  0xF30u
#define IDENTIFICATION 0xFD0u

#define SGIR_SGI(value)     ((value)&0xF)
#define SGIR_TARGETS(value) ((value) >> 16 & 0xFF)
#define SGIR_FILTER(value)  ((value) >> 24 & 3)
#define FILTER_LIST         0u
#define FILTER_ALL_OTHERS   1u
#define FILTER_SELF         2u

static uint32_t all_vcpus(const struct domain *domain)
{
    return (1u << domain->vcpu_count) - 1;
}

static bool is_private(uint32_t offset)
{
    if (offset >= ICFGR) {
        return offset < ICFGR + 8;
    }
    return offset >= IPRIORITYR ? offset < IPRIORITYR + 32 : offset % 0x80 < 4;
}

/* Registers that vgic_bank.c emulates. The pending bits of SGIs can be written only through the registers
 * with senders. */
static bool access_banks(struct vcpu *vcpu, struct mmio_access *access, uint32_t *kick)
{
    uint32_t offset = (uint32_t)access->offset;
    struct vcpu *owner = is_private(offset) ? vcpu : NULL;

    if (access->write && (offset == ISPENDR0 || offset == ICPENDR0)) {
        access->value &= ~UINT64_C(0xFFFF);
    }
    return vgic_bank_access(vcpu, owner, access, kick);
}

static uint32_t read_target(const struct vcpu *vcpu, uint32_t intid)
{
    if (intid < GIC_PRIVATE_COUNT) {
        return 1u << vcpu->index;
    }
    return intid < VGIC_INTID_LIMIT ? vcpu->domain->vgic.targets[intid - GIC_PRIVATE_COUNT] : 0;
}

/* An SPI is delivered to the first of its targets only. */
static uint32_t write_target(struct domain *domain, uint32_t intid, uint32_t targets)
{
    if (intid < GIC_PRIVATE_COUNT || intid >= VGIC_INTID_LIMIT) {
        return 0;
    }
    targets &= all_vcpus(domain);
    domain->vgic.targets[intid - GIC_PRIVATE_COUNT] = (uint8_t)targets;
    return vgic_route_spi(domain, intid, targets != 0 ? (uint32_t)__builtin_ctz(targets) : VGIC_NO_VCPU);
}

/* One byte for each interrupt, accessed by bytes or words. */
static bool access_targets(struct vcpu *vcpu, struct mmio_access *access, uint32_t *kick)
{
    uint32_t first = (uint32_t)access->offset - ITARGETSR;
    uint64_t value = 0;

    if (access->bytes != 1 && access->bytes != 4) {
        return false;
    }
    for (uint32_t i = 0; i < access->bytes; i++) {
        if (access->write) {
            *kick |= write_target(vcpu->domain, first + i, (uint32_t)(access->value >> 8 * i) & 0xFF);
        } else {
            value |= (uint64_t)read_target(vcpu, first + i) << 8 * i;
        }
    }
    access->value = access->write ? access->value : value;
    return true;
}

/* Senders of pending interrupts, as a mask: those in the bank, and one in a list register. */
static uint32_t pending_senders(struct vcpu *vcpu, uint32_t sgi)
{
    uint32_t senders = vcpu->vgic.sgis.senders[sgi];
    uint32_t sender;

    if ((vgic_peek(vcpu, 0, VGIC_LR_PENDING) & 1u << sgi) != 0 &&
        vgic_sgi_resident(&vcpu->vgic, sgi, &sender)) {
        senders |= (vcpu->vgic.bank.drop_pending & 1u << sgi) != 0 ? 0 : 1u << sender;
    }
    return senders;
}

static void clear_senders(struct vcpu *vcpu, uint32_t sgi, uint32_t senders)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    uint32_t sender;

    vgic->sgis.senders[sgi] &= (uint8_t)~senders;
    if (vgic->sgis.senders[sgi] == 0) {
        vgic->bank.pending &= ~(1u << sgi);
    }
    if (vgic_sgi_resident(vgic, sgi, &sender) && (senders & 1u << sender) != 0) {
        vgic->bank.drop_pending |= 1u << sgi;
        vgic->stale = true;
    }
}

/* GICD_SPENDSGIR and GICD_CPENDSGIR: one byte of senders for each interrupt of the accessing VCPU. */
static bool access_senders(struct vcpu *vcpu, struct mmio_access *access, uint32_t *kick)
{
    bool set = access->offset >= SPENDSGIR;
    uint32_t first = (uint32_t)access->offset % 16;
    uint64_t value = 0;

    if (access->bytes != 1 && access->bytes != 4) {
        return false;
    }
    for (uint32_t i = 0; i < access->bytes; i++) {
        uint32_t senders = (uint32_t)(access->value >> 8 * i) & all_vcpus(vcpu->domain);

        if (!access->write) {
            value |= (uint64_t)pending_senders(vcpu, first + i) << 8 * i;
        } else if (!set) {
            clear_senders(vcpu, first + i, senders);
        } else if (senders != 0) {
            vcpu->vgic.sgis.senders[first + i] |= (uint8_t)senders;
            vcpu->vgic.bank.pending |= 1u << (first + i);
        }
    }
    access->value = access->write ? access->value : value;
    *kick |= access->write ? 1u << vcpu->index : 0;
    return true;
}

/* Takes the domain's lock. */
bool vgic_dist_send_sgi(struct vcpu *vcpu, uint64_t offset, uint32_t value)
{
    uint32_t targets = 0;

    if (offset != GICD_SGIR) {
        return false;
    }

    switch (SGIR_FILTER(value)) {
    case FILTER_LIST:
        targets = SGIR_TARGETS(value);
        break;
    case FILTER_ALL_OTHERS:
        targets = ~(1u << vcpu->index);
        break;
    case FILTER_SELF:
        targets = 1u << vcpu->index;
        break;
    default: /* reserved */
        break;
    }
    vgic_send_sgi(vcpu, SGIR_SGI(value), targets);
    return true;
}

static uint32_t identification(uint32_t offset)
{
    static const uint8_t values[12] = {
        0x04, 0,    0,    0,    /* PIDR4 to PIDR7 */
        0x90, 0xB4, 0x2B, 0,    /* PIDR0 to PIDR3: GICv2, designed by Arm */
        0x0D, 0xF0, 0x05, 0xB1, /* CIDR0 to CIDR3 */
    };

    return values[(offset - IDENTIFICATION) / 4];
}

/* Registers of the frame itself, 32 bits each. */
static uint32_t read_frame(const struct domain *domain, uint32_t offset)
{
    switch (offset) {
    case GICD_CTLR:
        return domain->vgic.control;
    case GICD_TYPER:
        return VGIC_SPI_BANKS | (domain->vcpu_count - 1) << 5;
    case GICD_IIDR:
        return VGIC_IIDR;
    default:
        return offset >= IDENTIFICATION && offset % 4 == 0 ? identification(offset) : 0;
    }
}

bool vgic_dist_read_unlocked(const struct domain *domain, uint64_t offset, uint64_t *value)
{
    if (offset > GICD_IIDR) {
        return false;
    }
    *value = read_frame(domain, (uint32_t)offset);
    return true;
}

bool vgic_dist_access(struct vcpu *vcpu, struct mmio_access *access)
{
    uint32_t offset = (uint32_t)access->offset;
    uint32_t kick = 0;
    bool ok = true;

    if (access->offset >= BH_GICV2_DISTRIBUTOR_BYTES) {
        return false;
    }
    if (access->bytes == 4 && access->write && vgic_dist_send_sgi(vcpu, offset, (uint32_t)access->value)) {
        return true;
    }
    spin_lock(&vcpu->domain->vgic.lock);
    if ((offset >= BANKS_START && offset < ITARGETSR) || (offset >= ICFGR && offset < ICFGR_END)) {
        ok = access_banks(vcpu, access, &kick);
    } else if (offset >= ITARGETSR && offset < ICFGR) {
        ok = access_targets(vcpu, access, &kick);
    } else if (offset >= CPENDSGIR && offset < SPENDSGIR_END) {
        ok = access_senders(vcpu, access, &kick);
    } else if (access->bytes != 4) {
        ok = false;
    } else if (!access->write) {
        access->value = read_frame(vcpu->domain, offset);
    } else if (offset == GICD_CTLR) {
        kick = vgic_write_control(vcpu->domain, (uint32_t)access->value);
    }
    vgic_finish(vcpu->domain, vcpu, kick);
    return ok;
}
