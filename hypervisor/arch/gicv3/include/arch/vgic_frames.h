/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of the virtual GICv3, one by one. Only vgic_model.h's implementation, which dispatches to them,
 * and unit tests include this.
 */
#ifndef BULKHEAD_ARCH_VGIC_FRAMES_H
#define BULKHEAD_ARCH_VGIC_FRAMES_H

#include "base/mmio_access.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vcpu;

/* Handle accesses of the executing VCPU, as vgic_frame_access() does. The offset of vgic_redist_access()
 * counts from the first of the domain's redistributors. */
bool vgic_dist_access(struct vcpu *vcpu, struct mmio_access *access);
bool vgic_redist_access(struct vcpu *vcpu, struct mmio_access *access);

/* Handles the VCPU's write to ICC_SGI1R_EL1. */
void vgic_sgi1r_write(struct vcpu *vcpu, uint64_t value);

/* Value of an identification register at the end of a frame (offsets 0xFFD0 to 0xFFFC). */
uint32_t vgic_identification(uint64_t offset);

#ifdef __cplusplus
}
#endif

#endif
