// SPDX-License-Identifier: Apache-2.0
// Finds the loads that the core waits for: those whose value becomes the address of an access soon after, as
// scripts/instrument/dependence.py finds them in host code.
#pragma once

#include "machine/armv7/decode.h"

namespace bulkhead::machine::armv7 {

// Reads instructions from code in memory.
class code_reader {
public:
    code_reader(std::uint32_t address, std::uint32_t bytes, const std::uint8_t *content, const features &has)
        : address_(address), bytes_(bytes), content_(content), has_(has)
    {
    }
    // Nothing: the instruction is not completely in the code.
    [[nodiscard]] std::optional<operation> at(const instruction_place &where) const;

private:
    std::uint32_t address_;
    std::uint32_t bytes_;
    const std::uint8_t *content_;
    features has_;
};

// Whether the value that `load` loads becomes an address in the instructions after it.
[[nodiscard]] bool is_waited_for(const operation &load, bool thumb, const code_reader &code);

} // namespace bulkhead::machine::armv7
