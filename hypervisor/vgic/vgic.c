/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of the virtual GIC other than the guest's register accesses: reset, physical interrupts, emulated
 * lines, requests of other cores, and software-generated interrupts. Each takes the domain's lock, changes
 * state, and makes the affected VCPUs update their list registers.
 */
#include "vgic/vgic_internal.h"
#include "vgic/vgic_its.h"
#include "vm/clock.h"

#include <arch/gic.h>
#include <arch/vgic_sgi.h>
#include <string.h>

#define DEFAULT_PRIORITY 0xA0

#define SGIS 0xFFFFu /* software-generated interrupts in a bank of private ones */

static void reset_bank(struct vgic_bank *bank, uint32_t edge, uint32_t hw)
{
    memset(bank, 0, sizeof *bank);
    memset(bank->priority, DEFAULT_PRIORITY, sizeof bank->priority);
    for (uint32_t plane = 0; plane < VGIC_PRIORITY_BITS; plane++) {
        bank->priority_plane[plane] = (DEFAULT_PRIORITY >> (7 - plane) & 1u) != 0 ? UINT32_MAX : 0;
    }
    bank->group1 = VGIC_GROUP1_RESET;
    bank->edge = edge;
    bank->hw = hw;
}

static void reset_private(struct vcpu *vcpu)
{
    reset_bank(&vcpu->vgic.bank, SGIS, VGIC_PRIVATE_HW); /* SGIs are edge-triggered */
    memset(&vcpu->vgic.sgis, 0, sizeof vcpu->vgic.sgis);
    vcpu->vgic.asleep = true;
}

void vgic_domain_init(struct domain *domain)
{
    struct vgic_domain *vgic = &domain->vgic;

    spin_lock(&vgic->lock);
    vgic->control = 0;
    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        reset_bank(&vgic->spis[i], i < VGIC_SPI_BANKS ? 0 : UINT32_MAX, 0); /* LPIs are edge-triggered */
    }
    memset(vgic->target, 0, sizeof vgic->target);
    memset(vgic->targets, 1, sizeof vgic->targets);
    memset(vgic->owner, VGIC_NO_VCPU, sizeof vgic->owner);
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        memset(&domain->vcpus[i].vgic, 0, sizeof domain->vcpus[i].vgic);
        reset_private(&domain->vcpus[i]);
    }
    memset(domain->vcpus[0].vgic.routed, 0xFF, sizeof domain->vcpus[0].vgic.routed);
    vgic_its_reset(domain);
    spin_unlock(&vgic->lock);
}

bool vgic_add_spi_hw(struct domain *domain, uint32_t intid, uint32_t vcpu_index)
{
    if (intid < GIC_PRIVATE_COUNT || intid >= VGIC_INTID_LIMIT || vcpu_index >= domain->vcpu_count) {
        return false;
    }
    domain->vgic.spis[intid / 32 - 1].hw |= vgic_bit(intid);
    vgic_set_target(domain, intid - GIC_PRIVATE_COUNT, vcpu_index);
    domain->vgic.targets[intid - GIC_PRIVATE_COUNT] = (uint8_t)(1u << vcpu_index);
    return true;
}

void vgic_domain_stop(struct domain *domain)
{
    spin_lock(&domain->vgic.lock);
    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        struct vgic_bank *bank = &domain->vgic.spis[i];
        uint32_t hw = bank->hw;

        /* Interrupts in the VCPUs' list registers are dropped when the VCPUs go off. */
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
        uint32_t spi = first - GIC_PRIVATE_COUNT + vgic_next_bit(&mask);
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

/* True if the core of a VCPU must be notified of a change. A VCPU whose core runs another VCPU sees the
 * change when it is started or dispatched; a VCPU that waits for an interrupt is notified once, of the first
 * one. */
static bool must_notify(struct vcpu *vcpu)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;

    if (!vgic->waits) {
        return vgic->online;
    }
    if (!vgic->online && (vgic->come_ticks != 0 || !vgic_any_due(vcpu))) {
        return false;
    }
    if (vgic->come_ticks == 0) {
        vgic->come_ticks = clock_now();
    }
    return true;
}

/* Does the work of vgic_finish(). For the VCPUs in `sgis`, only software-generated interrupts have
 * changed. */
static void finish(struct domain *domain, struct vcpu *here, uint32_t kick, uint32_t sgis)
{
    if (kick == 0) {
        spin_unlock(&domain->vgic.lock);
        return;
    }
    if (here != NULL && (kick & 1u << here->index) != 0) {
        uint32_t others = vgic_update(here);

        sgis &= ~others;
        kick = (kick | others) & ~(1u << here->index);
    }
    for (uint32_t mask = kick; mask != 0;) {
        uint32_t i = vgic_next_bit(&mask);

        if (!must_notify(&domain->vcpus[i])) {
            kick &= ~(1u << i);
        }
    }
    spin_unlock(&domain->vgic.lock);
    while (kick != 0) {
        uint32_t i = vgic_next_bit(&kick);

        cpu_send_request(domain->vcpus[i].cpu, (sgis >> i & 1) != 0 ? CPU_REQUEST_SGI : CPU_REQUEST_VGIC);
    }
}

void vgic_finish(struct domain *domain, struct vcpu *here, uint32_t kick)
{
    finish(domain, here, kick, 0);
}

/* Moves all state out of the list registers and disables and resets the private interrupts. SPIs stay
 * pending. */
static uint32_t switch_off(struct vcpu *vcpu)
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

        /* The VCPU that would end these interrupts is gone. */
        vgic_end(bank, (i + 1) * 32, bank->active & ~bank->resident & vgic->owned[i]);
    }
    if (vgic->online) { /* otherwise they hold another VCPU's interrupts */
        vgic_lr_reset();
    }
    vgic->events = 0;
    vgic->online = false;
    vgic->parked = false;
    vgic->waits = false;
    reset_private(vcpu);
    return kick;
}

void vgic_vcpu_off(struct vcpu *vcpu)
{
    spin_lock(&vcpu->domain->vgic.lock);
    vgic_finish(vcpu->domain, vcpu, switch_off(vcpu));
}

bool vgic_core_suffices(void)
{
    return vgic_lr_count() >= 2;
}

void vgic_vcpu_reset(struct vcpu *vcpu)
{
    uint32_t kick;

    spin_lock(&vcpu->domain->vgic.lock);
    kick = switch_off(vcpu);
    vgic_lr_reset();
    vcpu->vgic.slots_mask = (1u << vgic_lr_count()) - 1;
    vcpu->vgic.online = true;
    vgic_lr_control(0);
    vgic_finish(vcpu->domain, vcpu, kick | 1u << vcpu->index);
}

/* A physical interrupt for this VCPU has arrived on its core. */
static void inject_physical(struct vcpu *vcpu, uint32_t intid)
{
    struct vgic_bank *bank = vgic_bank_of(vcpu, intid);
    uint32_t bit = vgic_bit(intid);

    bank->pending |= bit;
    bank->held |= bit;
    vcpu->vgic.stale |= (bank->enabled & bit) == 0; /* disabled since: it must be deactivated */
    vcpu->cpu->status->injected++;
    vgic_finish(vcpu->domain, NULL, vgic_deliver(vcpu, intid));
}

void vgic_inject_private_hw(struct vcpu *vcpu, uint32_t intid)
{
    spin_lock(&vcpu->domain->vgic.lock);
    inject_physical(vcpu, intid % 32);
}

bool vgic_inject_spi_hw(struct domain *domain, uint32_t intid)
{
    struct vcpu *here = vgic_here(domain);
    struct vgic_bank *bank;
    uint32_t takes; /* the VCPU that has it in a list register, otherwise the one that it is routed to */

    if (intid < GIC_PRIVATE_COUNT || intid >= VGIC_INTID_LIMIT) {
        return false;
    }
    bank = &domain->vgic.spis[intid / 32 - 1];
    spin_lock(&domain->vgic.lock);
    /* An interrupt that was acknowledged just before vgic_domain_stop() must not be held, because nothing
     * would deactivate it later. */
    if ((bank->hw & vgic_bit(intid)) == 0 || !vgic_domain_runs(domain)) {
        spin_unlock(&domain->vgic.lock);
        return false;
    }
    takes = (bank->resident & vgic_bit(intid)) != 0 ? domain->vgic.owner[intid - GIC_PRIVATE_COUNT]
                                                    : domain->vgic.target[intid - GIC_PRIVATE_COUNT];
    if (here != NULL && takes == here->index) {
        if (vgic_comes_early(here, bank, intid)) {
            spin_unlock(&domain->vgic.lock);
            return true;
        }
        inject_physical(here, intid);
        return true;
    }
    /* It was routed to another VCPU while it was in flight or still active, or its VCPU is off. */
    bank->pending |= vgic_bit(intid);
    bank->held |= vgic_bit(intid);
    vgic_finish(domain, here, vgic_concerned(domain, NULL, intid & ~31u, vgic_bit(intid), true));
    return true;
}

/* Sets an input line; `owner` is NULL for an SPI. */
static void set_level(struct domain *domain, struct vcpu *owner, uint32_t intid, bool level)
{
    struct vgic_bank *bank = owner != NULL ? &owner->vgic.bank : &domain->vgic.spis[intid / 32 - 1];
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
        bank->pending |= bit; /* the guest has set it to edge-triggered */
    }
    this_cpu()->status->injected += level;
    /* A falling level must also be removed from the list register; a rising level waits until the previous
     * interrupt in the list register ends. */
    vgic_finish(
        domain, here,
        level && (bank->enabled & bit) == 0
            ? 0
            : vgic_concerned(domain, owner, intid & ~31u, bit & (level ? ~0u : bank->resident), true));
}

void vgic_set_spi_level(struct domain *domain, uint32_t intid, bool level)
{
    set_level(domain, NULL, intid, level);
}

void vgic_set_private_level(struct vcpu *vcpu, uint32_t intid, bool level)
{
    set_level(vcpu->domain, vcpu, intid, level);
}

void vgic_send_sgi(struct vcpu *vcpu, uint32_t sgi, uint32_t targets)
{
    struct domain *domain = vcpu->domain;
    uint32_t kick = targets & ((1u << domain->vcpu_count) - 1);

    spin_lock(&domain->vgic.lock);
    for (uint32_t mask = kick; mask != 0;) {
        vgic_sgi_pend(&domain->vcpus[vgic_next_bit(&mask)].vgic, sgi, vcpu->index);
        vcpu->cpu->status->injected++;
    }
    if (kick == 1u << vcpu->index) {
        vgic_finish(domain, vcpu, vgic_deliver(vcpu, sgi));
        return;
    }
    finish(domain, vcpu, kick, kick);
}

uint32_t vgic_write_control(struct domain *domain, uint32_t groups)
{
    groups &= VGIC_CONTROL_GROUP0 | VGIC_CONTROL_GROUP1;
    if (groups == domain->vgic.control) {
        return 0;
    }
    domain->vgic.control = groups;
    for (uint32_t i = 0; i < domain->vcpu_count; i++) {
        domain->vcpus[i].vgic.stale = true;
    }
    return (1u << domain->vcpu_count) - 1;
}

uint32_t vgic_route_spi(struct domain *domain, uint32_t intid, uint32_t vcpu_index)
{
    struct vgic_domain *vgic = &domain->vgic;
    const struct vgic_bank *bank = &vgic->spis[intid / 32 - 1];
    uint32_t bit = vgic_bit(intid);

    if (vcpu_index == vgic->target[intid - GIC_PRIVATE_COUNT]) {
        return 0;
    }
    vgic_set_target(domain, intid - GIC_PRIVATE_COUNT, vcpu_index);
    if (vcpu_index != VGIC_NO_VCPU && (bank->hw & bank->enabled & bit) != 0 && vgic_domain_runs(domain)) {
        gic_enable(intid, domain->vcpus[vcpu_index].cpu->mpidr);
    }
    return vgic_concerned(domain, NULL, intid & ~31u, bit & (vgic_pending(bank) | bank->resident), true);
}

void vgic_handle_request(struct vcpu *vcpu)
{
    spin_lock(&vcpu->domain->vgic.lock);
    vgic_finish(vcpu->domain, vcpu, 1u << vcpu->index);
}

void vgic_handle_sgis(struct vcpu *vcpu)
{
    uint32_t pending;
    uint32_t kick = 0;

    spin_lock(&vcpu->domain->vgic.lock);
    pending = vcpu->vgic.bank.pending & vcpu->vgic.bank.enabled & SGIS;
    if (pending != 0 && (pending & (pending - 1)) == 0) {
        kick = vgic_deliver(vcpu, vgic_next_bit(&pending));
    } else if (pending != 0) {
        kick = vgic_update(vcpu);
    }
    vgic_finish(vcpu->domain, vcpu, kick);
}

void vgic_maintenance(struct vcpu *vcpu)
{
    vgic_handle_request(vcpu); /* the update checks all possible reasons */
}
