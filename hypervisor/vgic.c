/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways into the virtual GIC that are not register accesses of the guest: reset, physical interrupts, emulated
 * lines, requests of other cores; and software-generated interrupts. Each takes the domain's lock, changes
 * state, and lets those VCPUs update their list registers that are concerned.
 */
#include "vgic_internal.h"

#include <arch/gic.h>
#include <string.h>

#define SGI1R_TARGETS(value) ((uint32_t)(value)&0xFFFF)
#define SGI1R_INTID(value)   ((uint32_t)((value) >> 24) & 0xF)
#define SGI1R_RANGE(value)   ((uint32_t)((value) >> 44) & 0xF)
#define SGI1R_ALL_OTHERS     (UINT64_C(1) << 40)
#define SGI1R_AFFINITY_3_2_1 UINT64_C(0x00FF00FF00FF0000)

#define DEFAULT_PRIORITY 0xA0

static void reset_bank(struct vgic_bank *bank, uint32_t edge, uint32_t hw)
{
    memset(bank, 0, sizeof *bank);
    memset(bank->priority, DEFAULT_PRIORITY, sizeof bank->priority);
    bank->group1 = UINT32_MAX;
    bank->edge = edge;
    bank->hw = hw;
}

static void reset_private(struct vcpu *vcpu)
{
    reset_bank(&vcpu->vgic.bank, 0xFFFF, VGIC_PRIVATE_HW); /* SGIs are edges */
    vcpu->vgic.asleep = true;
}

void vgic_domain_init(struct domain *domain)
{
    struct vgic_domain *vgic = &domain->vgic;

    spin_lock(&vgic->lock);
    vgic->control = 0;
    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        reset_bank(&vgic->spis[i], 0, 0);
    }
    memset(vgic->target, 0, sizeof vgic->target);
    memset(vgic->owner, VGIC_NO_VCPU, sizeof vgic->owner);
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        memset(&domain->vcpus[i].vgic, 0, sizeof domain->vcpus[i].vgic);
        reset_private(&domain->vcpus[i]);
    }
    spin_unlock(&vgic->lock);
}

bool vgic_add_spi_hw(struct domain *domain, uint32_t intid, uint32_t vcpu_index)
{
    if (intid < 32 || intid >= VGIC_INTID_LIMIT || vcpu_index >= domain->vcpu_count) {
        return false;
    }
    domain->vgic.spis[intid / 32 - 1].hw |= vgic_bit(intid);
    domain->vgic.target[intid - 32] = (uint8_t)vcpu_index;
    return true;
}

void vgic_domain_stop(struct domain *domain)
{
    spin_lock(&domain->vgic.lock);
    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        struct vgic_bank *bank = &domain->vgic.spis[i];
        uint32_t hw = bank->hw;

        /* What its VCPUs have in list registers goes when they are put away. */
        bank->drop_pending = bank->resident;
        bank->drop_active = bank->resident;
        bank->enabled = 0;
        bank->pending = 0;
        bank->active = 0;
        while (hw != 0) {
            uint32_t intid = (i + 1) * 32 + vgic_next_bit(&hw);

            gic_disable(intid);
            if ((bank->held & vgic_bit(intid)) != 0) {
                gic_deactivate(intid);
            }
        }
        bank->held = 0;
    }
    spin_unlock(&domain->vgic.lock);
}

uint32_t vgic_concerned(struct domain *domain, struct vcpu *owner, uint32_t first, uint32_t mask,
                        bool look_again)
{
    const struct vgic_bank *bank = owner != NULL ? &owner->vgic.bank : &domain->vgic.spis[first / 32 - 1];
    uint32_t kick = 0;

    if (owner != NULL) {
        owner->vgic.stale |= look_again && (mask & bank->resident) != 0;
        return mask != 0 ? 1u << owner->index : 0;
    }
    while (mask != 0) {
        uint32_t spi = first - 32 + vgic_next_bit(&mask);
        uint32_t target = domain->vgic.target[spi];
        uint32_t holder = domain->vgic.owner[spi];

        if ((bank->resident & vgic_bit(spi)) != 0) {
            domain->vcpus[holder].vgic.stale |= look_again;
            kick |= 1u << holder;
        } else if (target < domain->vcpu_count) {
            kick |= 1u << target;
        }
        if ((bank->active & vgic_bit(spi)) != 0 && holder < domain->vcpu_count) {
            kick |= 1u << holder;
        }
    }
    return kick;
}

void vgic_finish(struct domain *domain, struct vcpu *here, uint32_t kick)
{
    if (here != NULL && (kick & 1u << here->index) != 0) {
        kick |= vgic_update(here);
        kick &= ~(1u << here->index);
    }
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if (!domain->vcpus[i].vgic.online) {
            kick &= ~(1u << i); /* will see it when it starts */
        }
    }
    spin_unlock(&domain->vgic.lock);
    while (kick != 0) {
        cpu_send_request(domain->vcpus[vgic_next_bit(&kick)].cpu, CPU_REQUEST_VGIC);
    }
}

/* Takes everything out of the list registers and gives up the private interrupts, for good. SPIs stay
 * pending. */
static uint32_t put_away(struct vcpu *vcpu)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    struct vgic_domain *domain = &vcpu->domain->vgic;
    uint32_t kick = vgic_recall(vcpu);
    uint32_t held = vgic->bank.held;

    while (vgic->mirrored != 0) {
        gic_disable(vgic_next_bit(&vgic->mirrored));
    }
    while (held != 0) {
        gic_deactivate(vgic_next_bit(&held));
    }
    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        struct vgic_bank *bank = &domain->spis[i];
        uint32_t active = bank->active & ~bank->resident;

        while (active != 0) { /* nobody is left who would end it */
            uint32_t n = vgic_next_bit(&active);
            uint32_t bit = 1u << n;

            if (domain->owner[i * 32 + n] != vcpu->index) {
                continue;
            }
            bank->active &= ~bit;
            if ((bank->held & bit) != 0 && (bank->pending & bit) == 0) {
                bank->held &= ~bit;
                gic_deactivate((i + 1) * 32 + n);
            }
        }
    }
    vgic_lr_reset();
    vgic->events = 0;
    vgic->online = false;
    reset_private(vcpu);
    return kick;
}

void vgic_vcpu_off(struct vcpu *vcpu)
{
    spin_lock(&vcpu->domain->vgic.lock);
    vgic_finish(vcpu->domain, vcpu, put_away(vcpu));
}

void vgic_vcpu_reset(struct vcpu *vcpu)
{
    uint32_t kick;

    spin_lock(&vcpu->domain->vgic.lock);
    kick = put_away(vcpu);
    vcpu->vgic.slots_mask = (1u << vgic_lr_count()) - 1;
    vcpu->vgic.online = true;
    vgic_lr_control(0);
    vgic_finish(vcpu->domain, vcpu, kick | 1u << vcpu->index);
}

/* A physical interrupt for this VCPU, on its core. */
static void arrived(struct vcpu *vcpu, uint32_t intid)
{
    struct vgic_bank *bank = vgic_bank_of(vcpu, intid);
    uint32_t bit = vgic_bit(intid);
    uint32_t kick;

    bank->pending |= bit;
    bank->held |= bit;
    vcpu->vgic.stale |= (bank->enabled & bit) == 0; /* disabled meanwhile: to be given back */
    vcpu->cpu->status->injected++;
    kick = vgic_deliver(vcpu, intid);
    if (kick != 0) {
        vgic_finish(vcpu->domain, NULL, kick);
    } else {
        spin_unlock(&vcpu->domain->vgic.lock);
    }
}

void vgic_inject_private_hw(struct vcpu *vcpu, uint32_t intid)
{
    spin_lock(&vcpu->domain->vgic.lock);
    arrived(vcpu, intid % 32);
}

bool vgic_inject_spi_hw(struct domain *domain, uint32_t intid)
{
    struct vcpu *here = vgic_here(domain);
    struct vgic_bank *bank;
    uint32_t target;

    if (intid < 32 || intid >= VGIC_INTID_LIMIT) {
        return false;
    }
    bank = &domain->vgic.spis[intid / 32 - 1];
    spin_lock(&domain->vgic.lock);
    /* What was acknowledged just before vgic_domain_stop() must not be held: nobody would give it back. */
    if ((bank->hw & vgic_bit(intid)) == 0 || atomic_load(&domain->state) != BH_DOMAIN_STATE_RUNNING) {
        spin_unlock(&domain->vgic.lock);
        return false;
    }
    target = domain->vgic.target[intid - 32];
    if (here != NULL && target == here->index) {
        arrived(here, intid);
        return true;
    }
    /* Routed away while it was on its way, or its VCPU is off. */
    bank->pending |= vgic_bit(intid);
    bank->held |= vgic_bit(intid);
    vgic_finish(domain, here, vgic_concerned(domain, NULL, intid & ~31u, vgic_bit(intid), true));
    return true;
}

void vgic_set_spi_level(struct domain *domain, uint32_t intid, bool level)
{
    struct vgic_bank *bank = &domain->vgic.spis[intid / 32 - 1];
    uint32_t bit = vgic_bit(intid);
    struct vcpu *here;

    spin_lock(&domain->vgic.lock);
    if (((bank->line & bit) != 0) == level) {
        spin_unlock(&domain->vgic.lock);
        return;
    }
    here = vgic_here(domain);
    bank->line ^= bit;
    if (level && (bank->edge & bit) != 0) {
        bank->pending |= bit; /* the guest takes it for an edge */
    }
    this_cpu()->status->injected += level;
    /* A falling level must leave the list register too, a rising one waits there for the end of the last. */
    vgic_finish(domain, here,
                level && (bank->enabled & bit) == 0
                    ? 0
                    : vgic_concerned(domain, NULL, intid & ~31u, bit & (level ? ~0u : bank->resident), true));
}

void vgic_sgi1r_write(struct vcpu *vcpu, uint64_t value)
{
    struct domain *domain = vcpu->domain;
    uint32_t bit = 1u << SGI1R_INTID(value);
    uint32_t targets;
    uint32_t kick = 0;

    if ((value & SGI1R_ALL_OTHERS) != 0) {
        targets = ~(1u << vcpu->index);
    } else if ((value & SGI1R_AFFINITY_3_2_1) == 0 && SGI1R_RANGE(value) < 2) {
        targets = SGI1R_TARGETS(value) << 16 * SGI1R_RANGE(value); /* affinity 0 is the VCPU's index */
    } else {
        targets = 0;
    }
    spin_lock(&domain->vgic.lock);
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        if ((targets & 1u << i) != 0) {
            domain->vcpus[i].vgic.bank.pending |= bit;
            vcpu->cpu->status->injected++;
            kick |= 1u << i;
        }
    }
    if (kick == 1u << vcpu->index) {
        kick = vgic_deliver(vcpu, SGI1R_INTID(value));
    }
    vgic_finish(domain, vcpu, kick);
}

void vgic_handle_request(struct vcpu *vcpu)
{
    spin_lock(&vcpu->domain->vgic.lock);
    vgic_finish(vcpu->domain, vcpu, 1u << vcpu->index);
}

void vgic_maintenance(struct vcpu *vcpu)
{
    vgic_handle_request(vcpu); /* the update looks for every reason there is */
}
