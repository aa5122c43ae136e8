/* SPDX-License-Identifier: Apache-2.0
 *
 * The only emulated frame of the virtual GICv2, the distributor. Only vgic_model.h's implementation, which
 * dispatches to it, and unit tests include this.
 */
#ifndef BULKHEAD_ARCH_VGIC_FRAMES_H
#define BULKHEAD_ARCH_VGIC_FRAMES_H

#include "base/mmio_access.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vcpu;

/* Handles an access of the executing VCPU, as vgic_frame_access() does. */
bool vgic_dist_access(struct vcpu *vcpu, struct mmio_access *access);

#ifdef __cplusplus
}
#endif

#endif
