/* SPDX-License-Identifier: Apache-2.0
 *
 * The one emulated frame of the virtual GICv2: what vgic_model.h dispatches to, and what unit tests call.
 * Only they include it.
 */
#ifndef BULKHEAD_ARCH_VGIC_FRAMES_H
#define BULKHEAD_ARCH_VGIC_FRAMES_H

#include "base/mmio_access.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vcpu;

/* An access of the executing VCPU, as vgic_frame_access(). */
bool vgic_dist_access(struct vcpu *vcpu, struct mmio_access *access);

#ifdef __cplusplus
}
#endif

#endif
