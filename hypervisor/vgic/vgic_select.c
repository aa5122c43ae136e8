/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection of interrupts for the list registers, on masks of 32 interrupts.
 */
#include "vgic/vgic_select.h"
#include "vgic/vgic_internal.h"

static const struct vgic_bank *bank_at(const struct vcpu *vcpu, uint32_t n)
{
    return n == 0 ? &vcpu->vgic.bank : &vcpu->domain->vgic.spis[n - 1];
}

void vgic_find_waiting(const struct vcpu *vcpu, bool active_only, struct vgic_set *waiting)
{
    waiting->banks = 0;
    for (uint32_t n = 0; n < VGIC_BANKS; n++) {
        const struct vgic_bank *bank = bank_at(vcpu, n);
        uint32_t found;

        if ((bank->pending | bank->line | bank->active) == 0) {
            continue;
        }
        /* Until it ends, an active SPI stays with the VCPU that took it, whatever VCPU it is routed to
         * now. */
        found = bank->active & ~bank->resident & (n == 0 ? UINT32_MAX : vcpu->vgic.owned[n - 1]);
        if (!active_only) {
            found |= vgic_due(vcpu->domain, bank) & (n == 0 ? UINT32_MAX : vcpu->vgic.routed[n - 1]);
        }
        if (found != 0) {
            waiting->masks[n] = found;
            waiting->banks |= 1u << n;
        }
    }
}

bool vgic_has_more(const struct vgic_set *set, uint32_t count)
{
    for (uint32_t banks = set->banks; banks != 0;) {
        for (uint32_t mask = set->masks[vgic_next_bit(&banks)]; mask != 0; count--) {
            if (count == 0) {
                return true;
            }
            mask &= mask - 1;
        }
    }
    return false;
}

/* In the following functions, all masks of a set are valid. */

static bool is_empty(const struct vgic_set *set)
{
    uint32_t any = 0;

    for (uint32_t n = 0; n < VGIC_BANKS; n++) {
        any |= set->masks[n];
    }
    return any == 0;
}

/* The interrupts of a set that have the most urgent priority in it, which is the lowest number. */
static struct vgic_set of_first_priority(const struct vcpu *vcpu, const struct vgic_set *set)
{
    struct vgic_set first = *set;

    for (uint32_t plane = 0; plane < VGIC_PRIORITY_BITS; plane++) {
        struct vgic_set clear = {.banks = 0};
        uint32_t any = 0;

        for (uint32_t n = 0; n < VGIC_BANKS; n++) {
            clear.masks[n] = first.masks[n] & ~bank_at(vcpu, n)->priority_plane[plane];
            any |= clear.masks[n];
        }
        if (any != 0) {
            first = clear;
        }
    }
    return first;
}

/* The interrupts of a set that are active, or those that are not. */
static struct vgic_set with_activity(const struct vcpu *vcpu, const struct vgic_set *set, bool active)
{
    struct vgic_set found = {.banks = 0};

    for (uint32_t n = 0; n < VGIC_BANKS; n++) {
        found.masks[n] = set->masks[n] & (active ? bank_at(vcpu, n)->active : ~bank_at(vcpu, n)->active);
    }
    return found;
}

/* Moves at most `count` interrupts of `some`, a subset of `from`. Returns `count` minus the number moved. */
static uint32_t move(struct vgic_set *from, struct vgic_set *to, const struct vgic_set *some, uint32_t count)
{
    for (uint32_t n = 0; n < VGIC_BANKS && count != 0; n++) {
        for (uint32_t mask = some->masks[n]; mask != 0 && count != 0; count--) {
            uint32_t bit = 1u << vgic_next_bit(&mask);

            from->masks[n] &= ~bit;
            to->masks[n] |= bit;
        }
    }
    return count;
}

/* Moves the most urgent ones, active ones first among equal priorities. Each round moves at least one. */
static uint32_t move_most_urgent(const struct vcpu *vcpu, struct vgic_set *from, struct vgic_set *to,
                                 uint32_t count)
{
    while (count != 0 && !is_empty(from)) {
        const struct vgic_set first = of_first_priority(vcpu, from);
        const struct vgic_set active = with_activity(vcpu, &first, true);
        const struct vgic_set pending = with_activity(vcpu, &first, false);

        count = move(from, to, &active, count);
        count = move(from, to, &pending, count);
    }
    return count;
}

void vgic_leave_most_urgent(const struct vcpu *vcpu, struct vgic_set *waiting, uint32_t count)
{
    struct vgic_set rest = {.masks = {0}};
    struct vgic_set chosen = {.masks = {0}};
    struct vgic_set pending;
    struct vgic_set forced;

    for (uint32_t banks = waiting->banks; banks != 0;) {
        uint32_t n = vgic_next_bit(&banks);

        rest.masks[n] = waiting->masks[n];
    }
    /* Keep the most urgent interrupt that can be delivered: it is among the first `count` anyway, or it
     * replaces the last of them. */
    pending = with_activity(vcpu, &rest, false);
    if (!is_empty(&pending)) {
        pending = of_first_priority(vcpu, &pending);
        (void)move(&rest, &chosen, &pending, 1);
        count--;
    }
    for (uint32_t n = 0; n < VGIC_BANKS; n++) {
        forced.masks[n] = rest.masks[n] & bank_at(vcpu, n)->active & bank_at(vcpu, n)->forced;
        rest.masks[n] &= ~forced.masks[n];
    }
    count = move_most_urgent(vcpu, &rest, &chosen, count);
    (void)move_most_urgent(vcpu, &forced, &chosen, count);
    waiting->banks = 0;
    for (uint32_t n = 0; n < VGIC_BANKS; n++) {
        waiting->masks[n] = chosen.masks[n];
        waiting->banks |= (uint32_t)(chosen.masks[n] != 0) << n;
    }
}
