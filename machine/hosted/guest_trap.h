// SPDX-License-Identifier: Apache-2.0
// A guest's instruction that goes to EL2: the syndrome that hardware would give, and the answer. For the
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

// A trapped MRS or MSR of x0, by the register's SYSREG_ENCODING.
std::uint64_t sysreg_syndrome(std::uint64_t encoding, bool read);

// An instruction without an operand, by its SYSREG_ENCODING: to EL2 until it is done if this bit of HCR_EL2
// says so, which is the answer.
bool traps(std::uint64_t hcr_bit, std::uint64_t encoding, const void *where);

// To EL2 until the instruction is done: the hypervisor answers in x0. `where`: the caller's return address.
std::uint64_t trap(std::uint64_t syndrome, std::uint64_t x0, const void *where);

} // namespace bulkhead::machine::hosted
