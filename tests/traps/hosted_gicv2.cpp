// SPDX-License-Identifier: Apache-2.0
// A hosted machine with a GICv2 at the addresses of the emulator's `virt` machine.
#include "hosted_gic.h"

extern "C" {
#include "arch/hosted/fake_gic_v2.h"
}

namespace bulkhead_test {

void describe_gic(manifest_platform &platform)
{
    platform.gic_version = BH_GIC_VERSION_GICV2;
    platform.gicd_pa = 0x08000000;
    platform.gicr_pa = 0;
    platform.gicr_bytes = 0;
    platform.gicc_pa = 0x08010000;
    platform.gich_pa = 0x08030000;
    platform.gicv_pa = 0x08040000;
}

void make_hosted_gic(const manifest_platform &platform, uint32_t cores, uint32_t list_registers)
{
    fake_gic_v2_init(platform.gicd_pa, platform.gicc_pa, platform.gich_pa, cores, list_registers);
}

} // namespace bulkhead_test
