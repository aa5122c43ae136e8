// SPDX-License-Identifier: Apache-2.0
// The fake interrupt controller of a hosted machine. The linked file selects its version: hosted_gicv3.cpp or
// hosted_gicv2.cpp, with the hypervisor library of that version.
#pragma once

#include <bulkhead_layout.h>
#include <cstdint>

namespace bulkhead_test {

// Sets the controller's addresses in a manifest's platform; its version is the linked one.
void describe_gic(manifest_platform &platform);

// Creates it, at the manifest's addresses, for cores 0 to `cores` - 1. Called after fake_reset().
void make_hosted_gic(const manifest_platform &platform, uint32_t cores, uint32_t list_registers);

} // namespace bulkhead_test
