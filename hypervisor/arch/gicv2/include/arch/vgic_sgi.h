/* SPDX-License-Identifier: Apache-2.0
 *
 * Senders of software-generated interrupts (IHI 0048, chapters 3.2.2 and 4.3.15). On GICv2, the same
 * interrupt can be pending from several senders at once, and each is delivered separately, with its sender.
 * Only one of them is in a list register at a time; when it ends, the next one is delivered. Only the virtual
 * GIC calls these functions, with the domain's lock.
 */
#ifndef BULKHEAD_ARCH_VGIC_SGI_H
#define BULKHEAD_ARCH_VGIC_SGI_H

#include "vgic/vgic_internal.h"

/* A domain's interrupts are in Group 0 after reset, which is signalled as IRQ. */
#define VGIC_GROUP1_RESET 0u

/* Makes interrupt `sgi` pending from `sender`. The bank's pending bit is set while the interrupt of any
 * sender is pending outside the list registers. */
static inline void vgic_sgi_pend(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t sender)
{
    receiver->sgis.senders[sgi] |= (uint8_t)(1u << sender);
    receiver->bank.pending |= 1u << sgi;
}

/* Software-generated interrupt `sgi` is put into a list register with `flags` (vgic_slot): returns the flags
 * with the sender added. If other senders wait, its end must cause a maintenance interrupt, so that theirs
 * are delivered. */
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
        /* the pending one is from another sender than the active one */
        flags &= ~(uint32_t)(VGIC_LR_PENDING | VGIC_SLOT_LATCHED);
    }
    if (*senders != 0) {
        receiver->bank.pending |= 1u << sgi;
        flags |= VGIC_LR_EOI;
    }
    return flags | sender << VGIC_LR_SENDER_SHIFT;
}

/* Interrupt `sgi` comes back from a list register, into which it was put with `flags`. `state`: its
 * vgic_lr_flag now. */
static inline void vgic_sgi_release(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags, uint32_t state)
{
    if ((state & VGIC_LR_PENDING) != 0) {
        vgic_sgi_pend(receiver, sgi, VGIC_LR_SENDER(flags));
    }
    if ((state & VGIC_LR_ACTIVE) != 0) {
        receiver->sgis.active[sgi] = (uint8_t)VGIC_LR_SENDER(flags);
    }
}

/* True if interrupt `sgi` is in a list register; `*sender` is then its sender. */
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
