/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual interrupt controller of VCPUs that share a core: which VCPU has the list registers, and which
 * VCPUs wait for interrupts. shared_core.c calls it, on the core. A parked VCPU has all states of its
 * interrupts in its banks; a core that changes them there sends a request only if the VCPU waits.
 */
#include "vgic/vgic.h"
#include "vgic/vgic_internal.h"
#include <arch/gic.h>
#include <arch/sysreg.h>

#define TIMER_ENABLE  (1u << 0)
#define TIMER_MASKED  (1u << 1)
#define TIMER_ISTATUS (1u << 2)

/* A timer's interrupt is level-triggered: it is signalled again when the timer is loaded, so a pending one
 * need not be saved. The physical interrupt must not stay active, because the next VCPU uses it, too. */
static void deactivate_timers(struct vgic_bank *bank)
{
    uint32_t timers = bank->held & VGIC_PRIVATE_HW;

    bank->held &= ~timers;
    bank->pending &= ~timers;
    while (timers != 0) {
        gic_deactivate(vgic_next_bit(&timers));
    }
}

/* A timer whose interrupt the guest is handling must not interrupt again before the guest ends the
 * interrupt. */
static void activate_timers(struct vgic_bank *bank)
{
    uint32_t timers = bank->active & VGIC_PRIVATE_HW;

    bank->held |= timers;
    while (timers != 0) {
        gic_activate(vgic_next_bit(&timers));
    }
}

uint32_t vgic_park(struct vcpu *vcpu)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    uint32_t mirrored = vgic->mirrored;
    uint32_t kick;

    spin_lock(&vcpu->domain->vgic.lock);
    kick = vgic_withdraw(vcpu);
    deactivate_timers(&vgic->bank);
    vgic_lr_save(&vgic->interface);
    vgic->mirrored = 0;
    vgic->online = false;
    vgic->parked = true;
    vgic_finish(vcpu->domain, NULL, kick & ~(1u << vcpu->index));
    return mirrored;
}

void vgic_unpark(struct vcpu *vcpu, uint32_t mirrored)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;

    spin_lock(&vcpu->domain->vgic.lock);
    activate_timers(&vgic->bank);
    vgic_lr_load(&vgic->interface);
    vgic_lr_control(0);
    vgic->mirrored = mirrored;
    vgic->parked = false;
    vgic->online = true;
    vgic_finish(vcpu->domain, vcpu, 1u << vcpu->index);
}

void vgic_vcpu_inherit(struct vcpu *vcpu, uint32_t mirrored)
{
    spin_lock(&vcpu->domain->vgic.lock);
    vcpu->vgic.mirrored = mirrored;
    spin_unlock(&vcpu->domain->vgic.lock);
}

static bool is_due(uint64_t control)
{
    return (control & (TIMER_ENABLE | TIMER_MASKED | TIMER_ISTATUS)) == (TIMER_ENABLE | TIMER_ISTATUS);
}

/* Private interrupts (bit = INTID) of the core's timers that are asserted now. */
static uint32_t timers_due(void)
{
    return (is_due(sysreg_read(CNTV_CTL_EL0)) ? 1u << BH_VIRTUAL_TIMER_INTID : 0u) |
           (is_due(sysreg_read(CNTP_CTL_EL0)) ? 1u << BH_PHYSICAL_TIMER_INTID : 0u);
}

/* Needs the domain's lock. Reads the timers, because an interrupt of theirs may not have been taken yet: EL2
 * runs with interrupts masked. */
static bool has_interrupt(struct vcpu *vcpu)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;

    return vgic_any_due(vcpu) ||
           (vgic->online && (vgic_is_pending(vcpu) || (timers_due() & vgic->bank.enabled) != 0));
}

bool vgic_wait(struct vcpu *vcpu)
{
    bool waits;

    spin_lock(&vcpu->domain->vgic.lock);
    waits = !has_interrupt(vcpu);
    vcpu->vgic.waits = waits;
    vcpu->vgic.come_ticks = 0;
    spin_unlock(&vcpu->domain->vgic.lock);
    return waits;
}

bool vgic_has_come(struct vcpu *vcpu)
{
    bool come;

    spin_lock(&vcpu->domain->vgic.lock);
    come = has_interrupt(vcpu);
    if (!come) {
        vcpu->vgic.come_ticks = 0; /* that interrupt was disabled, or its line has fallen again */
    }
    spin_unlock(&vcpu->domain->vgic.lock);
    return come;
}

uint64_t vgic_stop_waiting(struct vcpu *vcpu)
{
    uint64_t come_ticks;

    spin_lock(&vcpu->domain->vgic.lock);
    vcpu->vgic.waits = false;
    come_ticks = vcpu->vgic.come_ticks;
    spin_unlock(&vcpu->domain->vgic.lock);
    return come_ticks;
}
