/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual GICv3 as trap handlers use it: distributor and redistributors, at the addresses of the board's
 * real ones.
 */
#include "vgic/vgic_model.h"
#include "vm/domain.h"
#include "vm/system.h"

#include <arch/vgic_frames.h>

enum vgic_frame vgic_frame_at(const struct domain *domain, uint64_t ipa, uint64_t *offset)
{
    const struct manifest_platform *platform = &system_manifest()->platform;

    *offset = ipa - platform->gicd_pa;
    if (*offset < BH_GICV3_DISTRIBUTOR_BYTES) {
        return VGIC_FRAME_DISTRIBUTOR;
    }
    *offset = ipa - platform->gicr_pa;
    if (*offset < (uint64_t)domain->vcpu_count * BH_REDISTRIBUTOR_BYTES) {
        return VGIC_FRAME_REDISTRIBUTOR;
    }
    return VGIC_FRAME_NONE;
}

bool vgic_frame_access(struct vcpu *vcpu, enum vgic_frame frame, struct mmio_access *access)
{
    return frame == VGIC_FRAME_DISTRIBUTOR ? vgic_dist_access(vcpu, access)
                                           : vgic_redist_access(vcpu, access);
}

/* With affinity routing, SGIs are sent by a system register. */
bool vgic_dist_send_sgi(struct vcpu *vcpu, uint64_t offset, uint32_t value)
{
    (void)vcpu;
    (void)offset;
    (void)value;
    return false;
}

bool vgic_map_registers(const struct stage2 *stage2)
{
    (void)stage2;
    return true; /* the virtual CPU interface consists of system registers */
}
