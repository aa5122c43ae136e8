/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection of the interrupts of a VCPU that wait for a list register, and of the most urgent among them. All
 * functions need the domain's lock. They process 32 interrupts at a time, so that the work is bounded by the
 * number of banks and list registers, and hardly depends on how many interrupts are pending or active.
 */
#ifndef BULKHEAD_VGIC_SELECT_H
#define BULKHEAD_VGIC_SELECT_H

#include "vgic/vgic_state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcpu;

/* A set of interrupts of a VCPU. */
struct vgic_set {
    uint32_t banks;             /* bit n: masks[n] is valid, and not 0 */
    uint32_t masks[VGIC_BANKS]; /* bit i of masks[n] is INTID 32 n + i */
};

/* Finds interrupts that are in no list register and are active or, unless `active_only`, can be delivered. */
void vgic_find_waiting(const struct vcpu *vcpu, bool active_only, struct vgic_set *waiting);

/* True if the set has more than `count` interrupts. */
bool vgic_has_more(const struct vgic_set *set, uint32_t count);

/* Reduces a set that has more than `count` interrupts to the `count` most urgent ones. Among equal
 * priorities, active interrupts come first, so that EL2 sees their end. Interrupts that a register write made
 * active come last, because no handler will end them soon. If any interrupt can be delivered, at least one
 * such is kept however urgent the active ones are, because the guest may not end any of those before it has
 * handled that one. */
void vgic_leave_most_urgent(const struct vcpu *vcpu, struct vgic_set *waiting, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
