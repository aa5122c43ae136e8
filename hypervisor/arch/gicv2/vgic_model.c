/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual GICv2 as trap handlers use it: the distributor is emulated. At the address of the board's
 * physical CPU interface, a guest accesses the virtual CPU interface of the hardware (GICV), which is banked
 * by core and causes no traps.
 */
#include "vgic/vgic_model.h"
#include "memory/stage2.h"
#include "vm/domain.h"
#include "vm/system.h"

#include <arch/vgic_frames.h>

enum vgic_frame vgic_frame_at(const struct domain *domain, uint64_t ipa, uint64_t *offset)
{
    (void)domain;
    *offset = ipa - system_manifest()->platform.gicd_pa;
    return *offset < BH_GICV2_DISTRIBUTOR_BYTES ? VGIC_FRAME_DISTRIBUTOR : VGIC_FRAME_NONE;
}

bool vgic_frame_access(struct vcpu *vcpu, enum vgic_frame frame, struct mmio_access *access)
{
    (void)frame; /* there is only one frame */
    return vgic_dist_access(vcpu, access);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): with GICv3 a value comes back */
bool vgic_sysreg_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value)
{
    (void)vcpu;
    (void)encoding;
    (void)write;
    (void)value;
    return false; /* a guest has no GICv3 registers, whatever the core has */
}

bool vgic_map_registers(const struct stage2 *stage2)
{
    const struct manifest_platform *platform = &stage2->manifest->platform;

    return stage2_map_device(stage2, platform->gicc_pa, paddr(platform->gicv_pa), BH_GICV2_INTERFACE_BYTES);
}
