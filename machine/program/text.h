// SPDX-License-Identifier: Apache-2.0
// Builds messages from words and numbers, for machine/program/.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace bulkhead::machine {

struct hex {
    std::uint64_t value;
    friend std::ostream &operator<<(std::ostream &stream, hex number)
    {
        return stream << "0x" << std::hex << number.value << std::dec;
    }
};

template <class... Parts> std::string sentence(const Parts &...parts)
{
    std::ostringstream stream;
    (stream << ... << parts);
    return stream.str();
}

} // namespace bulkhead::machine
