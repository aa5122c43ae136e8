// SPDX-License-Identifier: Apache-2.0
// From a word to an operation, by the tables (encoding.h). A function of the word, its address, ITSTATE and
// what the core has: the same words make the same operations.
#pragma once

#include "machine/armv7/operation.h"
#include "machine/armv7/profile.h"

namespace bulkhead::machine::armv7 {

struct instruction_place {
    std::uint32_t address = 0;
    std::uint8_t it = 0;
    bool thumb = true;
};

// Whether a halfword is the first of two.
[[nodiscard]] constexpr bool is_first_of_two(std::uint32_t halfword)
{
    return halfword >> 11U >= 0x1D;
}

// `word`: of `bytes`; of T32 with 4 bytes the first halfword is above. Whatever is unallocated, unpredictable
// or not of this core executes as undefined.
[[nodiscard]] operation decode(std::uint32_t word, std::uint8_t bytes, const instruction_place &where,
                               const features &has);

// Whether decode() knows the word as allocated: an instruction of the tables, be it not implemented.
[[nodiscard]] bool is_undefined(const operation &what);

} // namespace bulkhead::machine::armv7
