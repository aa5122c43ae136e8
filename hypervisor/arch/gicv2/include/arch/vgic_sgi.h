/* SPDX-License-Identifier: Apache-2.0
 *
 * Who sent a software-generated interrupt (IHI 0048, chapters 3.2.2 and 4.3.15): on GICv2 the same number can
 * be pending from several senders at once, and each is delivered on its own, with the sender. One of them is
 * in a list register at a time; its end brings the next. Only the virtual GIC calls these, with the domain's
 * lock.
 */
#ifndef BULKHEAD_ARCH_VGIC_SGI_H
#define BULKHEAD_ARCH_VGIC_SGI_H

#include "vgic/vgic_internal.h"

/* Interrupts of a domain are in Group 0 at first, which is signalled as IRQ. */
#define VGIC_GROUP1_RESET 0u

/* The bank's pending bit says that some sender is pending outside of the list registers. */
static inline void vgic_sgi_pend(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t sender)
{
    receiver->sgis.senders[sgi] |= (uint8_t)(1u << sender);
    receiver->bank.pending |= 1u << sgi;
}

/* Software-generated interrupt `sgi` goes into a list register with `flags` (vgic_slot): returns them with
 * the sender. The end of one sender's interrupt must bring us back for the others'. */
static inline uint32_t vgic_sgi_put(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags)
{
    uint8_t *senders = &receiver->sgis.senders[sgi];
    uint32_t sender = receiver->sgis.active[sgi];

    if ((flags & VGIC_LR_ACTIVE) == 0) {
        sender = (uint32_t)__builtin_ctz(*senders | 0x100u) & 7;
    }
    if ((flags & VGIC_LR_PENDING) != 0 && (*senders & 1u << sender) != 0) {
        *senders &= (uint8_t) ~(1u << sender);
    } else {
        flags &= ~(uint32_t)(VGIC_LR_PENDING | VGIC_SLOT_LATCHED); /* another's than the active one */
    }
    if (*senders != 0) {
        receiver->bank.pending |= 1u << sgi;
        flags |= VGIC_LR_EOI;
    }
    return flags | sender << VGIC_LR_SENDER_SHIFT;
}

/* It comes back from a list register that it entered with `flags`; `state`: vgic_lr_flag. */
static inline void vgic_sgi_release(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags, uint32_t state)
{
    if ((state & VGIC_LR_PENDING) != 0) {
        vgic_sgi_pend(receiver, sgi, VGIC_LR_SENDER(flags));
    }
    if ((state & VGIC_LR_ACTIVE) != 0) {
        receiver->sgis.active[sgi] = (uint8_t)VGIC_LR_SENDER(flags);
    }
}

/* The sender of the one that is in a list register, if there is one. */
static inline bool vgic_sgi_resident(const struct vgic_vcpu *receiver, uint32_t sgi, uint32_t *sender)
{
    uint32_t used = receiver->slots_used;

    while (used != 0) {
        const struct vgic_slot *slot = &receiver->slots[vgic_next_bit(&used)];

        if (slot->intid == sgi) {
            *sender = VGIC_LR_SENDER(slot->flags);
            return true;
        }
    }
    return false;
}

#endif
