// SPDX-License-Identifier: Apache-2.0
// Histogram of costs in cycles of a core: of its TLB misses or of misses of its MPU's regions. Mean,
// deviation, percentiles and the maximum are computed from it afterwards, exactly.
#pragma once

#include <cstdint>
#include <map>

#include "machine/time.h"

namespace bulkhead::machine::armv7 {

class cost_counts {
public:
    explicit cost_counts(std::uint64_t frequency_hz) : frequency_hz_(frequency_hz) {}

    void add(picoseconds time) { ++times_[cycles(time)]; }
    // Rounded to whole cycles.
    [[nodiscard]] std::uint64_t cycles(picoseconds time) const
    {
        constexpr double ps_per_s = 1e12;
        return static_cast<std::uint64_t>(
            static_cast<double>(time.value) * static_cast<double>(frequency_hz_) / ps_per_s + 0.5);
    }
    // Number of occurrences, by cycles.
    [[nodiscard]] const std::map<std::uint64_t, std::uint64_t> &times() const { return times_; }

private:
    std::uint64_t frequency_hz_;
    std::map<std::uint64_t, std::uint64_t> times_;
};

} // namespace bulkhead::machine::armv7
