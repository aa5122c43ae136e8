/* SPDX-License-Identifier: Apache-2.0
 *
 * Senders of software-generated interrupts: GICv3 with affinity routing does not tell them to the receiver,
 * so no sender is stored. Only vgic*.c call these functions, with the domain's lock.
 */
#ifndef BULKHEAD_ARCH_VGIC_SGI_H
#define BULKHEAD_ARCH_VGIC_SGI_H

#include "vgic/vgic_internal.h"

/* A domain's interrupts are in Group 1 after reset, which is signalled as IRQ. */
#define VGIC_GROUP1_RESET UINT32_MAX

static inline void vgic_sgi_pend(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t sender)
{
    (void)sender;
    receiver->bank.pending |= 1u << sgi;
}

/* Software-generated interrupt `sgi` is put into a list register with `flags` (vgic_slot): returns the flags
 * with the sender added. */
static inline uint32_t vgic_sgi_put(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags)
{
    (void)receiver;
    (void)sgi;
    return flags;
}

/* Interrupt `sgi` comes back from a list register, into which it was put with `flags`. `state`: its
 * vgic_lr_flag now. */
static inline void vgic_sgi_release(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags, uint32_t state)
{
    (void)receiver;
    (void)sgi;
    (void)flags;
    (void)state;
}

#endif
