/* SPDX-License-Identifier: Apache-2.0
 *
 * Which interrupts of a VCPU wait for a list register, and which of them are the most urgent. Both need the
 * domain's lock. 32 interrupts are looked at together, so that the work is bounded by the banks and the list
 * registers; how many interrupts a guest has pending or active hardly matters.
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
    uint32_t masks[VGIC_BANKS]; /* bit i of masks[n]: INTID 32 n + i */
};

/* Interrupts that are active or, unless `active_only`, could be taken, and are in no list register. */
void vgic_find_waiting(const struct vcpu *vcpu, bool active_only, struct vgic_set *waiting);

/* Whether there are more than `count`. */
bool vgic_has_more(const struct vgic_set *set, uint32_t count);

/* Leaves the `count` most urgent of a set that has more. Of equal priorities active ones come first, so that
 * their end is seen; those that a register write made active come last, because they have no handler that
 * would end them next. If any can be taken, one such is among them, however urgent the active ones are: the
 * guest may end none of those before it has that one. */
void vgic_leave_most_urgent(const struct vcpu *vcpu, struct vgic_set *waiting, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
