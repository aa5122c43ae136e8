// SPDX-License-Identifier: Apache-2.0
// Decodes a word to an operation, using the tables (encoding.h). The result depends only on the word, its
// address, ITSTATE and the features of the core.
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

// `word`: `bytes` bytes; for 4 bytes of T32, the first halfword is the upper one. Words that are unallocated,
// unpredictable or not implemented by this core execute as undefined.
[[nodiscard]] operation decode(std::uint32_t word, std::uint8_t bytes, const instruction_place &where,
                               const features &has);

// Whether the operation is undefined: decode() does not know its word as allocated. Instructions of the
// tables that are not implemented count as allocated.
[[nodiscard]] bool is_undefined(const operation &what);

} // namespace bulkhead::machine::armv7
