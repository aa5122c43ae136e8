// SPDX-License-Identifier: Apache-2.0
// A guest's accesses to the performance monitors: to its own counters, or trapped to EL2 if EL2 has
// configured that. For machine/hosted/guest_calls.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "guests/arch/hosted/include/arch/machine.h"

namespace bulkhead::machine::hosted {

// Nothing, or false: not a register of the performance monitors. `where`: the instruction's return address.
std::optional<std::uint64_t> guest_reads_monitors(guest_sysreg which, const void *where);
bool guest_writes_monitors(guest_sysreg which, std::uint64_t value, const void *where);

} // namespace bulkhead::machine::hosted
