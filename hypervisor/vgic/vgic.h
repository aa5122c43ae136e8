/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual interrupt controller of a domain: the state of its interrupts and the list registers that
 * deliver them. Trap and interrupt handlers call it; it calls the physical GIC for interrupts that are passed
 * through. It does nothing on exits that do not concern interrupts: list registers keep their contents, the
 * guest works on them. The registers that a guest sees depend on the GIC's version: vgic_model.h.
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

/* Whether the executing core's virtual CPU interface is enough. With a single list register it is not: "at
 * most one is in use", which asks for more, would then always be true, and its interrupt never end. */
bool vgic_core_suffices(void);

/* Resets the distributor and all redistributors; domain->vcpus and vcpu_count are set. While none of the
 * VCPUs runs. */
void vgic_domain_init(struct domain *domain);

/* Gives the domain a physical SPI under its own number, first targeted at a VCPU. After vgic_domain_init().
 * Returns false if the INTID is not an SPI below VGIC_INTID_LIMIT or the VCPU does not exist. */
bool vgic_add_spi_hw(struct domain *domain, uint32_t intid, uint32_t vcpu_index);

/* Silences the domain's passed-through SPIs at the physical GIC. When it has ended; any core. */
void vgic_domain_stop(struct domain *domain);

/* Resets the VCPU's private interrupts and its core's virtual CPU interface. On its core, before every entry
 * at the start of the VCPU's life (first start, CPU_ON). SPIs that were in its list registers stay pending.
 */
void vgic_vcpu_reset(struct vcpu *vcpu);

/* Puts the VCPU's private interrupts away: physical timers off, list registers empty. On its core when the
 * VCPU goes off (CPU_OFF, end of the domain) and the core waits at EL2. */
void vgic_vcpu_off(struct vcpu *vcpu);

/* The VCPU sends software-generated interrupt `sgi` (below 16) to the VCPUs of its own domain that are in
 * `targets` (bit = index); others do not exist for it. */
void vgic_send_sgi(struct vcpu *vcpu, uint32_t sgi, uint32_t targets);

/* A physical timer interrupt of this VCPU, acknowledged and with its priority dropped, not deactivated. On
 * its core. */
void vgic_inject_private_hw(struct vcpu *vcpu, uint32_t intid);

/* The common case of vgic_inject_private_hw(), which needs no lock: `intid` is the timer interrupt that was
 * injected last, and nothing has changed since but that the guest has ended it. Then vgic_repeat_timer()
 * injects it again. Hardware reports it again only after the guest deactivated it by its list register: that
 * is empty now, and everything that EL2 keeps of the interrupt is as it was when the register was written.
 * Only this core changes what is looked at here, but `stale`, and whoever sets that sends a request as well.
 */
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

/* A passed-through SPI, acknowledged and with its priority dropped, not deactivated. On the core that took
 * it. Returns false if it is not the domain's, or the domain does not run: the caller disables and
 * deactivates it. */
bool vgic_inject_spi_hw(struct domain *domain, uint32_t intid);

/* RARE_ALARM_EARLY: whether the interrupt that came before its handler was done may come now. */
void vgic_look_again(struct cpu *cpu);

/* The core's guest waits for an interrupt: its handlers are done, and what came too early comes now. */
void vgic_guest_waits(struct cpu *cpu);

/* Input line of an emulated level-triggered SPI. Any core; saying what is so already is always possible.
 * `intid` is an SPI below VGIC_INTID_LIMIT. */
void vgic_set_spi_level(struct domain *domain, uint32_t intid, bool level);

/* The same of an emulated private interrupt of this VCPU. On its core. */
void vgic_set_private_level(struct vcpu *vcpu, uint32_t intid, bool level);

/* Takes the VCPU's interrupts out of the core's list registers, and saves its virtual CPU interface: another
 * VCPU gets them. Timers are off (guest_context_save()). Returns its private interrupts that are enabled
 * physically, which stay so: vgic_unpark() or vgic_vcpu_inherit() of the next one takes them over. On its
 * core. */
uint32_t vgic_park(struct vcpu *vcpu);

/* The reverse, before its timers are on again. `mirrored`: what vgic_park() of the one before returned, or 0.
 */
void vgic_unpark(struct vcpu *vcpu, uint32_t mirrored);

/* The same for one that vgic_vcpu_reset() comes next for. */
void vgic_vcpu_inherit(struct vcpu *vcpu, uint32_t mirrored);

/* The VCPU wants to wait for an interrupt. False: there is one. Else its core gets a request when there is,
 * until vgic_stop_waiting(). On its core. */
bool vgic_wait(struct vcpu *vcpu);

/* Whether there is an interrupt for a VCPU that waits. On its core. */
bool vgic_has_come(struct vcpu *vcpu);

/* Returns the counter's value when another core, or this one, made that interrupt pending; 0: it is a
 * timer's, or there is none. */
uint64_t vgic_stop_waiting(struct vcpu *vcpu);

/* Whether an interrupt waits in a list register, for which a WFI of the guest would not wait. On its core. */
bool vgic_is_pending(struct vcpu *vcpu);

/* CPU_REQUEST_VGIC arrived. On the VCPU's core, also while the VCPU is off. */
void vgic_handle_request(struct vcpu *vcpu);

/* The same of CPU_REQUEST_SGI alone: nothing else is looked at. */
void vgic_handle_sgis(struct vcpu *vcpu);

/* The maintenance interrupt arrived. On the VCPU's core. */
void vgic_maintenance(struct vcpu *vcpu);

#ifdef __cplusplus
}
#endif

#endif
