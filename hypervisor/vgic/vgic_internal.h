/* SPDX-License-Identifier: Apache-2.0
 *
 * Interfaces between the parts of the virtual GIC: access to an interrupt's state, and how a change of state
 * is passed to the VCPU that it affects. Only vgic*.c include this. Every function needs the domain's lock.
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

/* Flags of a vgic_slot in addition to vgic_lr_flag: state that has moved into the list register. */
#define VGIC_SLOT_LATCHED (1u << 8) /* pending by itself, not only because the line is high */
#define VGIC_SLOT_HELD    (1u << 9)
/* 1u << 10 is VGIC_SLOT_TIMER. */
/* Bits 15:13 are the sender of a software-generated interrupt: VGIC_LR_SENDER(). */

/* The bank that holds an interrupt's state, for this VCPU. */
static inline struct vgic_bank *vgic_bank_of(struct vcpu *vcpu, uint32_t intid)
{
    return intid < GIC_PRIVATE_COUNT ? &vcpu->vgic.bank : &vcpu->domain->vgic.spis[intid / 32 - 1];
}

static inline bool vgic_is_lpi(uint32_t number)
{
    return VGIC_LPI_BANKS != 0 && number >= VGIC_FIRST_LPI;
}

static inline uint32_t vgic_bit(uint32_t intid)
{
    return 1u << intid % 32;
}

/* Pending interrupts of the bank, for any reason, without those in list registers. */
static inline uint32_t vgic_pending(const struct vgic_bank *bank)
{
    return bank->pending | (bank->line & ~bank->edge);
}

/* Clears the lowest set bit of `*mask` and returns its number. `*mask` must not be 0. */
static inline uint32_t vgic_next_bit(uint32_t *mask)
{
    uint32_t n = (uint32_t)__builtin_ctz(*mask);

    *mask &= *mask - 1;
    return n;
}

/* vgic_early.c: true if a passed-through SPI has arrived before the guest's handler of its previous one has
 * finished; it then waits at the physical controller. Called on the VCPU's core. */
bool vgic_comes_early(struct vcpu *vcpu, const struct vgic_bank *bank, uint32_t intid);

/* The VCPU of the domain that runs on the executing core, or NULL. */
static inline struct vcpu *vgic_here(const struct domain *domain)
{
    struct vcpu *vcpu = this_cpu()->vcpu;

    return vcpu != NULL && vcpu->domain == domain ? vcpu : NULL;
}

/* True if physical interrupts may be enabled for the domain. A VCPU that has not yet learnt that its domain
 * was stopped can still write registers; after vgic_domain_stop(), no code would disable such an interrupt
 * again. */
static inline bool vgic_domain_runs(const struct domain *domain)
{
    return atomic_load(&domain->state) == BH_DOMAIN_STATE_RUNNING;
}

/* Interrupts of the bank that the distributor forwards: enabled, in an enabled group. */
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

/* Interrupts of the bank that can be delivered, whatever VCPU they are routed to, without those in list
 * registers. */
static inline uint32_t vgic_due(const struct domain *domain, const struct vgic_bank *bank)
{
    return vgic_pending(bank) & vgic_forwarded(domain, bank) & ~bank->active & ~bank->resident;
}

static inline bool vgic_targets(const struct vcpu *vcpu, uint32_t intid)
{
    return intid < GIC_PRIVATE_COUNT || (vcpu->vgic.routed[intid / 32 - 1] & vgic_bit(intid)) != 0;
}

/* Sets the priority of interrupt `i` of the bank, as a register write gives it. */
static inline void vgic_set_priority(struct vgic_bank *bank, uint32_t i, uint8_t priority)
{
    bank->priority[i] = priority;
    for (uint32_t plane = 0; plane < VGIC_PRIORITY_BITS; plane++) {
        uint32_t set = (uint32_t)priority >> (7 - plane) & 1u;

        bank->priority_plane[plane] = (bank->priority_plane[plane] & ~(1u << i)) | set << i;
    }
}

/* `index` is the index of a VCPU, or VGIC_NO_VCPU. */
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

/* Ends active interrupts `mask` of a bank that are in no list register. `first` is the INTID of bit 0. */
static inline void vgic_end(struct vgic_bank *bank, uint32_t first, uint32_t mask)
{
    uint32_t held = mask & bank->held & ~bank->pending;

    bank->active &= ~mask;
    bank->held &= ~held;
    while (held != 0) {
        gic_deactivate(first + vgic_next_bit(&held));
    }
}

/* VCPUs (bit = index) that must call vgic_update() because interrupts `mask` of a bank have changed. If
 * `look_again`, VCPUs where one of them is in a list register will also read back their list registers.
 * `first`: INTID of bit 0; `owner`: the VCPU of a private bank, NULL for SPIs. */
uint32_t vgic_concerned(struct domain *domain, struct vcpu *owner, uint32_t first, uint32_t mask,
                        bool look_again);

/* Brings the list registers of this core up to date: collects interrupts that the guest has finished, and
 * puts in those that can be delivered, the most urgent first. Returns other VCPUs that must do the same.
 * Called on the VCPU's core. */
uint32_t vgic_update(struct vcpu *vcpu);

/* Fast path of vgic_update() after interrupt `intid` of the VCPU has become pending. */
uint32_t vgic_deliver(struct vcpu *vcpu, uint32_t intid);

/* Moves the state of all list registers back into the banks, without writing the list registers. Called on
 * the VCPU's core. */
uint32_t vgic_recall(struct vcpu *vcpu);

/* Moves the state of all list registers back into the banks and empties them, for another VCPU. Called on the
 * VCPU's core. */
uint32_t vgic_withdraw(struct vcpu *vcpu);

/* True if an interrupt that is in no list register can be delivered to the VCPU now, priorities aside. */
bool vgic_any_due(const struct vcpu *vcpu);

/* Interrupts of [first, first + 32) that are pending or active, as `state` (vgic_lr_flag) says, in this
 * core's list registers. */
uint32_t vgic_peek(struct vcpu *vcpu, uint32_t first, uint32_t state);

/* Releases the lock and notifies the VCPUs in `kick`. If the executing VCPU `here` (or NULL) is in `kick`, it
 * is updated before. */
void vgic_finish(struct domain *domain, struct vcpu *here, uint32_t kick);

/* Handles an access to registers that have a field for each interrupt, in the distributor and in the
 * redistributors' SGI frame alike (offsets 0x80 to 0xCFF). `owner` is NULL in the distributor. Adds VCPUs to
 * notify to *kick. Returns false for an access width that the register does not have. */
bool vgic_bank_access(struct vcpu *here, struct vcpu *owner, struct mmio_access *access, uint32_t *kick);

/* Handles a write of the group enables in GICD_CTLR. Returns the VCPUs to notify. */
uint32_t vgic_write_control(struct domain *domain, uint32_t groups);

/* Routes an SPI to a VCPU of the domain, or to none (VGIC_NO_VCPU). Returns the VCPUs to notify. */
uint32_t vgic_route_spi(struct domain *domain, uint32_t intid, uint32_t vcpu_index);

#define VGIC_IIDR 0x4200043Bu /* 'B', revision 0, implementer Arm, as in the register model */

#ifdef __cplusplus
}
#endif

#endif
