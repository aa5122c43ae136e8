// SPDX-License-Identifier: Apache-2.0
// A guest's accesses to MPAM's registers: undefined if the core has no MPAM, trapped to EL2 if EL2 has
// configured that, else accesses to the core's own registers.
#pragma once

#include <cstdint>
#include <optional>

#include "guests/arch/hosted/include/arch/machine.h"

namespace bulkhead::machine::hosted {

// Nothing, or false: not an MPAM register. `where`: the caller's return address.
std::optional<std::uint64_t> guest_reads_partitions(guest_sysreg which, const void *where);
bool guest_writes_partitions(guest_sysreg which, std::uint64_t value, const void *where);

} // namespace bulkhead::machine::hosted
