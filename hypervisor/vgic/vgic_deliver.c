/* SPDX-License-Identifier: Apache-2.0
 *
 * Contents of the list registers. The guest changes them without exits, so EL2 learns what happened to an
 * interrupt only when something makes it read them back: a new interrupt, a register write, a maintenance
 * interrupt. Everything here runs on the VCPU's core with the domain's lock. The work is bounded by the
 * interrupts of the banks (vgic_select.h) and the list registers.
 */
#include "vgic/vgic.h"
#include "vgic/vgic_internal.h"
#include "vgic/vgic_select.h"

#include <arch/gic.h>
#include <arch/vgic_sgi.h>

static uint32_t index_mask(uint32_t vcpu_index)
{
    return vcpu_index == VGIC_NO_VCPU ? 0 : 1u << vcpu_index;
}

/* An interrupt that has left this VCPU's list registers is pending again. `reported`: its end would have
 * raised a maintenance interrupt, which is withdrawn now. If this VCPU is the target, it must look again for
 * a reported interrupt, so its state becomes stale; of any other one it is notified by the code that made it
 * pending. If another VCPU is the target, returns that one (bit = index) if it can take the interrupt now.
 * While the interrupt is active here, it cannot: otherwise two VCPUs would notify each other for ever. */
static uint32_t comes_again(struct vcpu *vcpu, uint32_t intid, bool reported)
{
    if (vgic_targets(vcpu, intid)) {
        vcpu->vgic.stale |= reported;
        return 0;
    }
    return (vgic_due(vcpu->domain, vgic_bank_of(vcpu, intid)) & vgic_bit(intid)) != 0
               ? index_mask(vcpu->domain->vgic.target[intid - GIC_PRIVATE_COUNT])
               : 0;
}

/* Moves the state of list register n, which is `state` now, back into the bank. Returns VCPUs (bit = index)
 * to which an interrupt may now be deliverable. */
static uint32_t release(struct vcpu *vcpu, uint32_t n, uint32_t state)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    const struct vgic_slot slot = vgic->slots[n];
    struct vgic_bank *bank = vgic_bank_of(vcpu, slot.intid);
    uint32_t bit = vgic_bit(slot.intid);
    const uint32_t found = state;

    vgic->slots_used &= ~(1u << n);
    vgic->slots[n].flags = 0;
    bank->resident &= ~bit;
    if ((bank->drop_pending & bit) != 0) {
        bank->drop_pending &= ~bit;
        state &= ~(uint32_t)VGIC_LR_PENDING;
    }
    if ((bank->drop_active & bit) != 0) {
        bank->drop_active &= ~bit;
        state &= ~(uint32_t)VGIC_LR_ACTIVE;
    }
    if (vgic_is_lpi(slot.intid)) {
        state &= ~(uint32_t)VGIC_LR_ACTIVE; /* the emulator has such a state until the guest ends the LPI */
    }

    if ((state & VGIC_LR_PENDING) != 0 && (slot.flags & VGIC_SLOT_LATCHED) != 0) {
        bank->pending |= bit;
    }
    if ((state & VGIC_LR_ACTIVE) != 0) {
        bank->active |= bit;
        if ((slot.flags & VGIC_LR_PENDING) != 0 && found == VGIC_LR_ACTIVE) {
            bank->forced &= ~bit; /* the guest has acknowledged it since */
        }
    }
    if (slot.intid < GIC_SGI_COUNT) {
        vgic_sgi_release(vgic, slot.intid, slot.flags, state);
    }
    if ((slot.flags & VGIC_SLOT_HELD) != 0) {
        if (state != 0) {
            bank->held |= bit;
        } else if (found != 0 || (slot.flags & VGIC_LR_HW) == 0) {
            gic_deactivate(slot.intid); /* the guest's deactivation did not reach the physical interrupt */
        }
    }
    return (vgic_pending(bank) & bit) != 0 ? comes_again(vcpu, slot.intid, (slot.flags & VGIC_LR_EOI) != 0)
                                           : 0;
}

/* Releases list registers that the guest has emptied, and withdraws their maintenance interrupts. */
static uint32_t collect(struct vcpu *vcpu)
{
    uint32_t emptied = vcpu->vgic.slots_used != 0 ? vgic_lr_empty() & vcpu->vgic.slots_used : 0;
    uint32_t kick = 0;

    while (emptied != 0) {
        uint32_t n = vgic_next_bit(&emptied);

        if ((vcpu->vgic.slots[n].flags & VGIC_LR_EOI) != 0) {
            vgic_lr_clear(n); /* clears its maintenance interrupt */
        }
        kick |= release(vcpu, n, 0);
    }
    return kick;
}

uint32_t vgic_recall(struct vcpu *vcpu)
{
    uint32_t used = vcpu->vgic.slots_used;
    uint32_t kick = 0;

    while (used != 0) {
        uint32_t n = vgic_next_bit(&used);

        kick |= release(vcpu, n, vgic_lr_state(n));
    }
    vcpu->vgic.stale = false;
    return kick;
}

/* The INTID by which the guest knows an interrupt. */
static uint32_t guest_intid(uint32_t number)
{
    return vgic_is_lpi(number) ? number - VGIC_FIRST_LPI + BH_FIRST_LPI : number;
}

/* Moves an interrupt of this VCPU that is in no list register into list register n. */
static void fill_lr(struct vcpu *vcpu, uint32_t n, uint32_t intid)
{
    struct vgic_bank *bank = vgic_bank_of(vcpu, intid);
    uint32_t bit = vgic_bit(intid);
    uint32_t flags = 0;

    if ((bank->active & bit) != 0) {
        flags |= VGIC_LR_ACTIVE;
    }
    if ((vgic_forwarded(vcpu->domain, bank) & bit) != 0 && vgic_targets(vcpu, intid)) {
        if ((bank->pending & bit) != 0) {
            flags |= VGIC_LR_PENDING | VGIC_SLOT_LATCHED;
            bank->pending &= ~bit;
        } else if ((vgic_pending(bank) & bit) != 0 && (flags & VGIC_LR_ACTIVE) == 0) {
            /* for an active level, EL2 checks at its end whether the line is still high */
            flags |= VGIC_LR_PENDING;
        }
    }
    if ((bank->held & bit) != 0) {
        flags |= VGIC_SLOT_HELD;
    }
    if ((flags & VGIC_SLOT_HELD) != 0 &&
        (flags & (VGIC_LR_PENDING | VGIC_LR_ACTIVE)) != (VGIC_LR_PENDING | VGIC_LR_ACTIVE)) {
        flags |= VGIC_LR_HW; /* the architecture forbids a pending and active hardware interrupt */
    } else if ((flags & VGIC_SLOT_HELD) != 0 || (bank->edge & bit) == 0 || !vgic_targets(vcpu, intid)) {
        flags |= VGIC_LR_EOI;
    }
    if ((bank->group1 & bit) != 0) {
        flags |= VGIC_LR_GROUP1;
    }
    bank->active &= ~bit;
    bank->held &= ~bit;
    bank->resident |= bit;
    if (intid < GIC_SGI_COUNT) {
        flags = vgic_sgi_put(&vcpu->vgic, intid, flags);
    } else if (intid >= GIC_PRIVATE_COUNT) {
        vgic_set_owner(vcpu->domain, intid - GIC_PRIVATE_COUNT, vcpu->index);
    } else if ((flags & (VGIC_LR_HW | VGIC_LR_PENDING)) == (VGIC_LR_HW | VGIC_LR_PENDING)) {
        flags |= VGIC_SLOT_TIMER;
        vcpu->vgic.timer_slot = n;
    }
    vcpu->vgic.slots[n] = (struct vgic_slot){.intid = (uint16_t)intid, .flags = (uint16_t)flags};
    vcpu->vgic.slots_used |= 1u << n;
    vgic_lr_write(n, guest_intid(intid), bank->priority[intid % 32], flags);
}

static void fill_lrs(struct vcpu *vcpu, const struct vgic_set *set)
{
    uint32_t free = vcpu->vgic.slots_mask & ~vcpu->vgic.slots_used;

    for (uint32_t banks = set->banks; banks != 0;) {
        uint32_t n = vgic_next_bit(&banks);

        for (uint32_t mask = set->masks[n]; mask != 0;) {
            fill_lr(vcpu, vgic_next_bit(&free), n * 32 + vgic_next_bit(&mask));
        }
    }
}

static uint32_t free_slots(const struct vgic_vcpu *vgic)
{
    uint32_t count = 0;

    for (uint32_t free = vgic->slots_mask & ~vgic->slots_used; free != 0; count++) {
        (void)vgic_next_bit(&free);
    }
    return count;
}

/* True if a list register is pending only. Pending and active ones do not count: the maintenance interrupt
 * for 'none is pending' would never end. */
static bool slot_pending(const struct vgic_vcpu *vgic)
{
    uint32_t used = vgic->slots_used;

    while (used != 0) {
        uint32_t flags = vgic->slots[vgic_next_bit(&used)].flags;

        if ((flags & (VGIC_LR_PENDING | VGIC_LR_ACTIVE)) == VGIC_LR_PENDING) {
            return true;
        }
    }
    return false;
}

/* Ends interrupts that the guest has ended while they were in no list register. The guest ends the innermost
 * first, which is the most urgent. Returns VCPUs (bit = index) that can take one of them now. */
static uint32_t end_absent(struct vcpu *vcpu)
{
    uint32_t count = vgic_lr_eoi_count();
    uint32_t kick = 0;

    if (count != 0) {
        struct vgic_set ended;

        vgic_find_waiting(vcpu, true, &ended);
        if (vgic_has_more(&ended, count)) {
            vgic_leave_most_urgent(vcpu, &ended, count);
        }
        for (uint32_t banks = ended.banks; banks != 0;) {
            uint32_t n = vgic_next_bit(&banks);

            vgic_end(vgic_bank_of(vcpu, n * 32), n * 32, ended.masks[n]);
            for (uint32_t mask = ended.masks[n] & vgic_pending(vgic_bank_of(vcpu, n * 32)); mask != 0;) {
                kick |= comes_again(vcpu, n * 32 + vgic_next_bit(&mask), false);
            }
        }
    }
    vgic_lr_control(vcpu->vgic.events);
    return kick;
}

/* Deactivates physical interrupts that no guest will deactivate. Disabled level-triggered ones are signalled
 * again when they are enabled. */
static void deactivate_orphans(struct vgic_bank *bank, uint32_t first)
{
    uint32_t orphans =
        bank->held & ~bank->resident & ~bank->active & (~bank->pending | (~bank->enabled & ~bank->edge));

    bank->held &= ~orphans;
    bank->pending &= ~orphans;
    while (orphans != 0) {
        gic_deactivate(first + vgic_next_bit(&orphans));
    }
}

static void deactivate_all_orphans(struct vcpu *vcpu)
{
    deactivate_orphans(&vcpu->vgic.bank, 0);
    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        struct vgic_bank *bank = &vcpu->domain->vgic.spis[i];

        if (bank->held != 0) {
            deactivate_orphans(bank, (i + 1) * 32);
        }
    }
}

/* Enables and disables this core's physical timer interrupts as the guest has done. */
static void mirror_private(struct vcpu *vcpu)
{
    uint32_t wanted = vcpu->vgic.bank.enabled & vcpu->vgic.bank.hw;
    uint32_t changed = wanted ^ vcpu->vgic.mirrored;

    vcpu->vgic.mirrored = wanted;
    while (changed != 0) {
        uint32_t intid = vgic_next_bit(&changed);

        if ((wanted & vgic_bit(intid)) != 0) {
            gic_enable(intid, 0);
        } else {
            gic_disable(intid);
        }
    }
}

/* True if an interrupt that is in a list register here has become pending again. */
static bool pending_again(struct vcpu *vcpu)
{
    uint32_t used = vcpu->vgic.slots_used;

    while (used != 0) {
        uint32_t intid = vcpu->vgic.slots[vgic_next_bit(&used)].intid;

        if ((vgic_bank_of(vcpu, intid)->pending & vgic_bit(intid)) != 0) {
            return true;
        }
    }
    return false;
}

static void set_events(struct vcpu *vcpu, uint32_t events)
{
    if (events != vcpu->vgic.events) {
        vcpu->vgic.events = events;
        vgic_lr_control(events);
    }
}

uint32_t vgic_update(struct vcpu *vcpu)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    uint32_t before = vgic->slots_used;
    uint32_t kick = 0;
    bool recalled = false;
    struct vgic_set waiting;
    uint32_t free;
    bool too_many;

    if (!vgic->online) {
        return 0;
    }
    mirror_private(vcpu);
    kick |= collect(vcpu);
    if (vgic->stale || vgic->events != 0 || pending_again(vcpu)) {
        if (vgic->events != 0) {
            kick |= end_absent(vcpu);
        }
        before = vgic->slots_used;
        kick |= vgic_recall(vcpu);
        recalled = true;
        deactivate_all_orphans(vcpu);
    }
    vgic_find_waiting(vcpu, false, &waiting);
    free = free_slots(vgic);
    if (!recalled && vgic_has_more(&waiting, free)) {
        before = vgic->slots_used;
        kick |= vgic_recall(vcpu);
        recalled = true;
        vgic_find_waiting(vcpu, false, &waiting);
        free = free_slots(vgic);
    }
    too_many = vgic_has_more(&waiting, free);
    if (too_many) {
        vgic_leave_most_urgent(vcpu, &waiting, free);
    }
    fill_lrs(vcpu, &waiting);
    if (recalled) {
        uint32_t left = before & ~vgic->slots_used;

        while (left != 0) {
            vgic_lr_clear(vgic_next_bit(&left));
        }
    }
    if (!too_many) {
        set_events(vcpu, 0);
    } else {
        vcpu->cpu->status->list_register_full += vgic->events == 0;
        set_events(vcpu,
                   VGIC_LR_UNDERFLOW | VGIC_LR_NOT_PRESENT | (slot_pending(vgic) ? VGIC_LR_NO_PENDING : 0));
    }
    return kick;
}

uint32_t vgic_withdraw(struct vcpu *vcpu)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    uint32_t used;
    uint32_t kick = collect(vcpu);

    if (vgic->events != 0) {
        kick |= end_absent(vcpu);
        vgic->events = 0;
    }
    used = vgic->slots_used;
    kick |= vgic_recall(vcpu);
    while (used != 0) {
        vgic_lr_clear(vgic_next_bit(&used));
    }
    return kick;
}

bool vgic_any_due(const struct vcpu *vcpu)
{
    uint32_t due = vgic_due(vcpu->domain, &vcpu->vgic.bank);

    for (uint32_t i = 0; i < VGIC_BANKS - 1; i++) {
        due |= vgic_due(vcpu->domain, &vcpu->domain->vgic.spis[i]) & vcpu->vgic.routed[i];
    }
    return due != 0;
}

uint32_t vgic_deliver(struct vcpu *vcpu, uint32_t intid)
{
    struct vgic_vcpu *vgic = &vcpu->vgic;
    struct vgic_bank *bank = vgic_bank_of(vcpu, intid);

    if (vgic->online && vgic->events == 0) {
        uint32_t kick = collect(vcpu);
        uint32_t free = vgic->slots_mask & ~vgic->slots_used;

        /* not if it was routed away while it was resident */
        if (free != 0 && !vgic->stale && vgic_targets(vcpu, intid) &&
            (vgic_forwarded(vcpu->domain, bank) & ~bank->resident & ~bank->active & vgic_bit(intid)) != 0) {
            fill_lr(vcpu, vgic_next_bit(&free), intid);
            return kick;
        }
        return kick | vgic_update(vcpu);
    }
    return vgic_update(vcpu);
}

uint32_t vgic_peek(struct vcpu *vcpu, uint32_t first, uint32_t state)
{
    uint32_t used = vcpu->vgic.slots_used;
    uint32_t found = 0;

    while (used != 0) {
        uint32_t n = vgic_next_bit(&used);
        uint32_t intid = vcpu->vgic.slots[n].intid;

        if (intid / 32 == first / 32 && (vgic_lr_state(n) & state) != 0) {
            found |= vgic_bit(intid);
        }
    }
    return found;
}

bool vgic_is_pending(struct vcpu *vcpu)
{
    uint32_t used = vcpu->vgic.slots_used;

    while (used != 0) {
        if ((vgic_lr_state(vgic_next_bit(&used)) & VGIC_LR_PENDING) != 0) {
            return true;
        }
    }
    return false;
}
