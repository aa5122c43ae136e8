/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the virtual GIC share: finding an interrupt's state, and the protocol by which a change
 * of state reaches the VCPU that it concerns. Only vgic*.c include it; every function needs the domain's
 * lock.
 */
#ifndef BULKHEAD_VGIC_INTERNAL_H
#define BULKHEAD_VGIC_INTERNAL_H

#include "base/mmio_access.h"
#include "vgic/vgic.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/vcpu.h"
#include <arch/gic.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VGIC_CONTROL_GROUP0 (1u << 0)
#define VGIC_CONTROL_GROUP1 (1u << 1)

/* Flags of a vgic_slot besides vgic_lr_flag: state that moved into the list register. */
#define VGIC_SLOT_LATCHED (1u << 8) /* pending by itself, not only because of the line */
#define VGIC_SLOT_HELD    (1u << 9)
/* 1u << 10: VGIC_SLOT_TIMER */
/* Bits 15:13 are the sender of a software-generated interrupt: VGIC_LR_SENDER(). */

/* The bank of an INTID below VGIC_INTID_LIMIT, as the VCPU sees it. */
static inline struct vgic_bank *vgic_bank_of(struct vcpu *vcpu, uint32_t intid)
{
    return intid < GIC_PRIVATE_COUNT ? &vcpu->vgic.bank : &vcpu->domain->vgic.spis[intid / 32 - 1];
}

static inline uint32_t vgic_bit(uint32_t intid)
{
    return 1u << intid % 32;
}

/* Pending, wherever from; what is in list registers not included. */
static inline uint32_t vgic_pending(const struct vgic_bank *bank)
{
    return bank->pending | (bank->line & ~bank->edge);
}

/* Takes and clears the lowest set bit; `*mask` is not 0. */
static inline uint32_t vgic_next_bit(uint32_t *mask)
{
    uint32_t n = (uint32_t)__builtin_ctz(*mask);

    *mask &= *mask - 1;
    return n;
}

/* vgic_early.c: whether a passed-through SPI that has arrived comes before the guest's handler of its last
 * one is done; then it waits at the physical controller. On the VCPU's core. */
bool vgic_comes_early(struct vcpu *vcpu, const struct vgic_bank *bank, uint32_t intid);

/* The VCPU of the domain that executes this, or NULL. */
static inline struct vcpu *vgic_here(const struct domain *domain)
{
    struct vcpu *vcpu = this_cpu()->vcpu;

    return vcpu != NULL && vcpu->domain == domain ? vcpu : NULL;
}

/* Whether the domain may have physical interrupts. A VCPU that has not heard yet that its domain was stopped
 * still writes registers; after vgic_domain_stop() nobody would take an enable back. */
static inline bool vgic_domain_runs(const struct domain *domain)
{
    return atomic_load(&domain->state) == BH_DOMAIN_STATE_RUNNING;
}

/* Interrupts of the bank that the distributor forwards. */
static inline uint32_t vgic_forwarded(const struct domain *domain, const struct vgic_bank *bank)
{
    uint32_t groups = 0;

    if ((domain->vgic.control & VGIC_CONTROL_GROUP1) != 0) {
        groups |= bank->group1;
    }
    if ((domain->vgic.control & VGIC_CONTROL_GROUP0) != 0) {
        groups |= ~bank->group1;
    }
    return groups & bank->enabled;
}

/* Interrupts of the bank that could be taken, wherever they are routed to; not those in list registers. */
static inline uint32_t vgic_due(const struct domain *domain, const struct vgic_bank *bank)
{
    return vgic_pending(bank) & vgic_forwarded(domain, bank) & ~bank->active & ~bank->resident;
}

static inline bool vgic_targets(const struct vcpu *vcpu, uint32_t intid)
{
    return intid < GIC_PRIVATE_COUNT || (vcpu->vgic.routed[intid / 32 - 1] & vgic_bit(intid)) != 0;
}

/* `priority` as a register has it. */
static inline void vgic_set_priority(struct vgic_bank *bank, uint32_t i, uint8_t priority)
{
    bank->priority[i] = priority;
    for (uint32_t plane = 0; plane < VGIC_PRIORITY_BITS; plane++) {
        uint32_t set = (uint32_t)priority >> (7 - plane) & 1u;

        bank->priority_plane[plane] = (bank->priority_plane[plane] & ~(1u << i)) | set << i;
    }
}

/* `index`: of a VCPU, or VGIC_NO_VCPU. */
static inline void vgic_set_target(struct domain *domain, uint32_t spi, uint32_t index)
{
    uint32_t old = domain->vgic.target[spi];

    if (old < domain->vcpu_count) {
        domain->vcpus[old].vgic.routed[spi / 32] &= ~vgic_bit(spi);
    }
    if (index < domain->vcpu_count) {
        domain->vcpus[index].vgic.routed[spi / 32] |= vgic_bit(spi);
    }
    domain->vgic.target[spi] = (uint8_t)index;
}

static inline void vgic_set_owner(struct domain *domain, uint32_t spi, uint32_t index)
{
    uint32_t old = domain->vgic.owner[spi];

    if (old == index) {
        return;
    }
    if (old < domain->vcpu_count) {
        domain->vcpus[old].vgic.owned[spi / 32] &= ~vgic_bit(spi);
    }
    if (index < domain->vcpu_count) {
        domain->vcpus[index].vgic.owned[spi / 32] |= vgic_bit(spi);
    }
    domain->vgic.owner[spi] = (uint8_t)index;
}

/* Ends active interrupts of a bank, INTIDs from `first`, that are in no list register. */
static inline void vgic_end(struct vgic_bank *bank, uint32_t first, uint32_t mask)
{
    uint32_t held = mask & bank->held & ~bank->pending;

    bank->active &= ~mask;
    bank->held &= ~held;
    while (held != 0) {
        gic_deactivate(first + vgic_next_bit(&held));
    }
}

/* VCPUs (bit = index) that must call vgic_update() because interrupts `mask` of a bank changed. Those where
 * such an interrupt is resident will look at their list registers again if `look_again`. `first`: INTID of
 * bit 0; `owner`: the VCPU of a private bank, NULL for SPIs. */
uint32_t vgic_concerned(struct domain *domain, struct vcpu *owner, uint32_t first, uint32_t mask,
                        bool look_again);

/* Brings the list registers of this core up to date: collects what the guest has finished, puts in what is
 * due, the most urgent first. Returns other VCPUs that must do the same. On the VCPU's core. */
uint32_t vgic_update(struct vcpu *vcpu);

/* vgic_update() after this one interrupt, of the VCPU, became pending: the short way for the common case. */
uint32_t vgic_deliver(struct vcpu *vcpu, uint32_t intid);

/* Moves all states out of the list registers, which are left as they are. On the VCPU's core. */
uint32_t vgic_recall(struct vcpu *vcpu);

/* Moves all states out of the list registers and empties them, for another VCPU. On the VCPU's core. */
uint32_t vgic_withdraw(struct vcpu *vcpu);

/* Whether any interrupt that is not in a list register could be taken by the VCPU now, but for priorities. */
bool vgic_any_due(const struct vcpu *vcpu);

/* Pending or active interrupts of [first, first + 32) in this core's list registers; `state`: vgic_lr_flag.
 */
uint32_t vgic_peek(struct vcpu *vcpu, uint32_t first, uint32_t state);

/* Releases the lock and tells the VCPUs of `kick`; the executing one (or NULL) updates before that. */
void vgic_finish(struct domain *domain, struct vcpu *here, uint32_t kick);

/* Registers that exist once per 32 interrupts, in the distributor and in the redistributors' SGI frame alike
 * (offsets 0x80 to 0xCFF). `owner` is NULL in the distributor. Adds to *kick. Returns false for a bad width.
 */
bool vgic_bank_access(struct vcpu *here, struct vcpu *owner, struct mmio_access *access, uint32_t *kick);

/* GICD_CTLR's group enables are written. */
uint32_t vgic_write_control(struct domain *domain, uint32_t groups);

/* Routes an SPI to a VCPU of the domain, or nowhere (VGIC_NO_VCPU). */
uint32_t vgic_route_spi(struct domain *domain, uint32_t intid, uint32_t vcpu_index);

#define VGIC_IIDR 0x4200043Bu /* 'B', revision 0, implementer Arm as the register model's */

#ifdef __cplusplus
}
#endif

#endif
