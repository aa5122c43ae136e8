// SPDX-License-Identifier: Apache-2.0
// The fake interrupt controller of a hosted machine. Which file is linked decides its version:
// hosted_gicv3.cpp or hosted_gicv2.cpp, beside the hypervisor library of that version.
#pragma once

#include <bulkhead_layout.h>
#include <cstdint>

namespace bulkhead_test {

// Says in a manifest's platform where the controller is; its version is the linked one.
void describe_gic(manifest_platform &platform);

// Makes it, where the manifest has it, for cores 0 to `cores` - 1. After fake_reset().
void make_hosted_gic(const manifest_platform &platform, uint32_t cores, uint32_t list_registers);

} // namespace bulkhead_test
