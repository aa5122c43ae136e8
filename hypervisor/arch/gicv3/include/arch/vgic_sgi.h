/* SPDX-License-Identifier: Apache-2.0
 *
 * Who sent a software-generated interrupt: GICv3 with affinity routing does not tell the receiver, so there
 * is nothing to keep. Only vgic*.c call these, with the domain's lock.
 */
#ifndef BULKHEAD_ARCH_VGIC_SGI_H
#define BULKHEAD_ARCH_VGIC_SGI_H

#include "vgic/vgic_internal.h"

/* Interrupts of a domain are in Group 1 at first: IRQs. */
#define VGIC_GROUP1_RESET UINT32_MAX

static inline void vgic_sgi_pend(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t sender)
{
    (void)sender;
    receiver->bank.pending |= 1u << sgi;
}

/* Software-generated interrupt `sgi` goes into a list register with `flags` (vgic_slot): returns them with
 * the sender. */
static inline uint32_t vgic_sgi_put(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags)
{
    (void)receiver;
    (void)sgi;
    return flags;
}

/* It comes back from a list register that it entered with `flags`; `state`: vgic_lr_flag. */
static inline void vgic_sgi_release(struct vgic_vcpu *receiver, uint32_t sgi, uint32_t flags, uint32_t state)
{
    (void)receiver;
    (void)sgi;
    (void)flags;
    (void)state;
}

#endif
