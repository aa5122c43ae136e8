/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual interrupt controller of a domain: the state of its interrupts, and the list registers that
 * deliver them. Trap and interrupt handlers call it; it calls the physical GIC for passed-through interrupts.
 * Exits that do not concern interrupts need no work here: list registers keep their contents, and the guest
 * uses them without traps. The registers that a guest sees depend on the GIC's version: vgic_model.h.
 */
#ifndef BULKHEAD_VGIC_H
#define BULKHEAD_VGIC_H

#include "vgic/vgic_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;
struct domain;
struct vcpu;

/* True if the executing core has enough list registers. One is not enough: the condition 'at most one list
 * register is in use', with which EL2 asks to be told of free ones, would then always be true, and its
 * maintenance interrupt would never end. */
bool vgic_core_suffices(void);

/* Resets the distributor and all redistributors. domain->vcpus and vcpu_count must be set, and none of the
 * VCPUs may run. */
void vgic_domain_init(struct domain *domain);

/* Gives the domain a physical SPI under its own number, initially routed to the VCPU with this index. Called
 * after vgic_domain_init(). Returns false if the INTID is not an SPI below VGIC_INTID_LIMIT, or if there is
 * no such VCPU. */
bool vgic_add_spi_hw(struct domain *domain, uint32_t intid, uint32_t vcpu_index);

/* Disables the domain's passed-through SPIs at the physical GIC. Called on any core when the domain has
 * ended. */
void vgic_domain_stop(struct domain *domain);

/* Resets the VCPU's private interrupts and the virtual CPU interface of its core. Called on that core before
 * the first entry of each life of the VCPU (first start, CPU_ON). SPIs that were in its list registers stay
 * pending. */
void vgic_vcpu_reset(struct vcpu *vcpu);

/* Disables the VCPU's private interrupts, physical timers included, and empties the list registers. Called on
 * the VCPU's core when the VCPU goes off (CPU_OFF, end of the domain) and the core waits at EL2. */
void vgic_vcpu_off(struct vcpu *vcpu);

/* Sends software-generated interrupt `sgi` (below 16) from the VCPU to the VCPUs of its domain that are set
 * in `targets` (bit = index). Bits of VCPUs that do not exist are ignored. */
void vgic_send_sgi(struct vcpu *vcpu, uint32_t sgi, uint32_t targets);

/* Injects a physical timer interrupt of this VCPU. The interrupt has been acknowledged and its priority
 * dropped, but it has not been deactivated. Called on the VCPU's core. */
void vgic_inject_private_hw(struct vcpu *vcpu, uint32_t intid);

/* Fast path of vgic_inject_private_hw(), without the lock. True if `intid` is the timer interrupt that was
 * injected last, and nothing has changed since then except that the guest has ended it; then
 * vgic_repeat_timer() injects it again. This is safe: hardware signals the interrupt again only after the
 * guest has deactivated it through its list register, which is therefore empty now, and all other state of
 * the interrupt is unchanged since that list register was written. Only this core changes the fields that are
 * read here, except `stale`; a core that sets `stale` also sends a request. */
static inline bool vgic_timer_repeats(const struct vgic_vcpu *vgic, uint32_t intid)
{
    struct vgic_slot slot = vgic->slots[vgic->timer_slot];

    return slot.intid == intid && (slot.flags & VGIC_SLOT_TIMER) != 0 && !vgic->stale && vgic->events == 0;
}

static inline void vgic_repeat_timer(const struct vgic_vcpu *vgic)
{
    struct vgic_slot slot = vgic->slots[vgic->timer_slot];

    vgic_lr_write(vgic->timer_slot, slot.intid, vgic->bank.priority[slot.intid], slot.flags);
}

/* Injects a passed-through SPI. It has been acknowledged and its priority dropped, but it has not been
 * deactivated. Called on the core that took it. Returns false if the SPI is not the domain's or the domain
 * does not run; the caller then disables and deactivates it. */
bool vgic_inject_spi_hw(struct domain *domain, uint32_t intid);

/* RARE_ALARM_EARLY is due: checks whether the interrupt that arrived before its handler had finished may be
 * delivered now. */
void vgic_look_again(struct cpu *cpu);

/* The core's guest waits for an interrupt, so its handlers have finished: delivers the interrupt that arrived
 * too early, if there is one. */
void vgic_guest_waits(struct cpu *cpu);

/* Sets the input line of an emulated level-triggered SPI. May be called on any core, also if the line already
 * has this level. `intid` is an SPI below VGIC_INTID_LIMIT. */
void vgic_set_spi_level(struct domain *domain, uint32_t intid, bool level);

/* Sets the input line of an emulated private interrupt of this VCPU. Called on the VCPU's core. */
void vgic_set_private_level(struct vcpu *vcpu, uint32_t intid, bool level);

/* Moves the VCPU's interrupts out of the core's list registers and saves its virtual CPU interface, so that
 * another VCPU can use them. The timers must be off (guest_context_save()). Returns the private interrupts
 * that are enabled physically. They stay enabled until vgic_unpark() or vgic_vcpu_inherit() of the next VCPU
 * takes them over. Called on the VCPU's core. */
uint32_t vgic_park(struct vcpu *vcpu);

/* Reverses vgic_park(), before the VCPU's timers are turned on. `mirrored`: the result of vgic_park() for the
 * previous VCPU, or 0. */
void vgic_unpark(struct vcpu *vcpu, uint32_t mirrored);

/* Takes over `mirrored` as vgic_unpark() does, for a VCPU for which vgic_vcpu_reset() is called next. */
void vgic_vcpu_inherit(struct vcpu *vcpu, uint32_t mirrored);

/* The VCPU is about to wait for an interrupt. Returns false if an interrupt is already pending. Otherwise the
 * VCPU's core gets a request when one arrives, until vgic_stop_waiting(). Called on its core. */
bool vgic_wait(struct vcpu *vcpu);

/* True if an interrupt has arrived for a VCPU that waits. Called on its core. */
bool vgic_has_come(struct vcpu *vcpu);

/* Ends the wait. Returns the counter value at which a core made the interrupt pending; 0 if it is a timer's
 * interrupt or there is none. */
uint64_t vgic_stop_waiting(struct vcpu *vcpu);

/* True if a pending interrupt is in a list register, so that a WFI of the guest would not wait. Called on the
 * VCPU's core. */
bool vgic_is_pending(struct vcpu *vcpu);

/* Handles CPU_REQUEST_VGIC. Called on the VCPU's core, also while the VCPU is off. */
void vgic_handle_request(struct vcpu *vcpu);

/* Handles CPU_REQUEST_SGI: looks only at pending software-generated interrupts. */
void vgic_handle_sgis(struct vcpu *vcpu);

/* Handles the maintenance interrupt. Called on the VCPU's core. */
void vgic_maintenance(struct vcpu *vcpu);

#ifdef __cplusplus
}
#endif

#endif
