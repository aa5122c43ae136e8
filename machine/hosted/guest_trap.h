// SPDX-License-Identifier: Apache-2.0
// A guest's instruction that traps to EL2: the syndrome that hardware would give, and the answer. For the
// calls of guests (machine/hosted/guest_*.cpp).
#pragma once

#include <cstdint>

#include "hypervisor/base/syndrome.h"

namespace bulkhead::machine::hosted {

constexpr std::uint64_t of_class(exception_class which)
{
    constexpr std::uint64_t il = 1u << 25;
    return std::uint64_t{which} << 26 | il;
}

// Syndrome of a trapped MRS or MSR with x0, by the register's SYSREG_ENCODING.
std::uint64_t sysreg_syndrome(std::uint64_t encoding, bool read);

// Traps an instruction without operand, given by its SYSREG_ENCODING, to EL2 if the bit of HCR_EL2 is set,
// and returns when it is done. Returns whether it was trapped.
bool traps(std::uint64_t hcr_bit, std::uint64_t encoding, const void *where);

// Traps to EL2 and returns when the instruction is done, with the hypervisor's answer in x0. `where`: the
// caller's return address.
std::uint64_t trap(std::uint64_t syndrome, std::uint64_t x0, const void *where);

} // namespace bulkhead::machine::hosted
