// SPDX-License-Identifier: Apache-2.0
// One number that summarises everything that happened in a run. Each event is hashed with its time; the
// hashes are added, so that the number does not depend on the order in which the host processed the events.
// It is not a cryptographic hash.
#pragma once

#include <cstdint>

#include "machine/time.h"

namespace bulkhead::machine {

class digest {
public:
    // `what` and `where`: kind, core and address, packed by the caller.
    void add(picoseconds when, std::uint64_t what, std::uint64_t where)
    {
        value_ += folded(when.value + what * 0xD1B54A32D192ED03U + 0x9E3779B97F4A7C15U,
                         where ^ 0xA0761D6478BD642FU);
        ++count_;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }

private:
    // Xor of the upper and the lower half of the product, as wyhash mixes (Wang Yi, 2019).
    static constexpr std::uint64_t folded(std::uint64_t a, std::uint64_t b)
    {
        __extension__ using wide = unsigned __int128;
        const wide product = static_cast<wide>(a) * b;
        return static_cast<std::uint64_t>(product >> 64U) ^ static_cast<std::uint64_t>(product);
    }

    std::uint64_t value_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace bulkhead::machine
