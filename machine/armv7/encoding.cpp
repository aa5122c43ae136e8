// SPDX-License-Identifier: Apache-2.0
// Turns patterns into masks and fields; see the header.
#include "machine/armv7/encoding.h"

#include <bit>
#include <cassert>

namespace bulkhead::machine::armv7 {

encoding::encoding(const row &of) : row_(&of)
{
    const std::size_t end = of.pattern.find(';');
    const std::string_view layout = of.pattern.substr(0, end);
    for (const char each : layout) {
        bits_ += each != ' ' ? 1 : 0;
    }
    std::uint32_t at = bits_;
    for (const char each : layout) {
        if (each == ' ') {
            continue;
        }
        --at;
        if (each == '0' || each == '1') {
            mask_ |= 1U << at;
            value_ |= (each == '1' ? 1U : 0U) << at;
        } else if (!pieces_.empty() && pieces_.back().letter == each && pieces_.back().low == at + 1) {
            --pieces_.back().low;
            ++pieces_.back().width;
        } else {
            pieces_.push_back({each, static_cast<std::uint8_t>(at), 1});
        }
    }
    assert(bits_ == 16 || bits_ == 32);
    if (end == std::string_view::npos) {
        return;
    }
    const std::string_view constants = of.pattern.substr(end + 1);
    for (std::size_t equals = constants.find('='); equals != std::string_view::npos;
         equals = constants.find('=', equals + 1)) {
        std::uint32_t value = 0;
        for (std::size_t i = equals + 1; i < constants.size() && constants[i] >= '0' && constants[i] <= '9';
             ++i) {
            value = 10 * value + static_cast<std::uint32_t>(constants[i] - '0');
        }
        constants_.append(constants[equals - 1], value,
                          32 - static_cast<std::uint32_t>(std::countl_zero(value | 1U)));
    }
}

fields encoding::take_apart(std::uint32_t word) const
{
    fields found = constants_;
    for (const piece &each : pieces_) {
        found.append(each.letter, word >> each.low & ~(~0U << each.width), each.width);
    }
    return found;
}

} // namespace bulkhead::machine::armv7
