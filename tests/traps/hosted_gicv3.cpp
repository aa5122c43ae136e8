// SPDX-License-Identifier: Apache-2.0
// A hosted machine with a GICv3 at the addresses of the sample manifest.
#include "hosted_gic.h"

extern "C" {
#include "arch/hosted/fake_gic.h"
}

namespace bulkhead_test {

void describe_gic(manifest_platform &platform)
{
    platform.gic_version = BH_GIC_VERSION_GICV3;
    platform.gicd_pa = 0x08000000;
    platform.gicr_pa = 0x080A0000;
    platform.gicr_bytes = BH_MAX_CORES * BH_REDISTRIBUTOR_BYTES;
}

void make_hosted_gic(const manifest_platform &platform, uint32_t cores, uint32_t list_registers)
{
    const uint32_t affinities[FAKE_CORES] = {0, 1, 2, 3, 4, 5, 6, 7};

    fake_gic_init(platform.gicd_pa, platform.gicr_pa, cores, affinities, list_registers);
}

} // namespace bulkhead_test
