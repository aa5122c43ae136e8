// SPDX-License-Identifier: Apache-2.0
// One number for all that happened in a run. Each happening is mixed with its time; the mixed values are
// added, so that the number does not depend on the order in which the host got to them. It is no
// cryptographic hash.
#pragma once

#include <cstdint>

#include "machine/time.h"

namespace bulkhead::machine {

class digest {
public:
    // `what` and `where`: kind, core, address; the caller packs them.
    void add(picoseconds when, std::uint64_t what, std::uint64_t where)
    {
        value_ += mixed(when.value * 0x9E3779B97F4A7C15U + what * 0xD1B54A32D192ED03U + where);
        ++count_;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }

private:
    // The finalizer of SplitMix64.
    static constexpr std::uint64_t mixed(std::uint64_t value)
    {
        value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
        value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
        return value ^ (value >> 31U);
    }

    std::uint64_t value_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace bulkhead::machine
