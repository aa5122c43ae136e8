// SPDX-License-Identifier: Apache-2.0
// Which loads the core waits for: those whose value becomes the address of an access soon after, as
// scripts/instrument/dependence.py finds them in code for the host.
#pragma once

#include "machine/armv7/decode.h"

namespace bulkhead::machine::armv7 {

// Code that is there to be looked at.
class code_reader {
public:
    code_reader(std::uint32_t address, std::uint32_t bytes, const std::uint8_t *content, const features &has)
        : address_(address), bytes_(bytes), content_(content), has_(has)
    {
    }
    // Nothing: it is not all there.
    [[nodiscard]] std::optional<operation> at(const instruction_place &where) const;

private:
    std::uint32_t address_;
    std::uint32_t bytes_;
    const std::uint8_t *content_;
    features has_;
};

// Whether what `load` has loaded becomes an address in the instructions behind it.
[[nodiscard]] bool is_waited_for(const operation &load, bool thumb, const code_reader &code);

} // namespace bulkhead::machine::armv7
