// SPDX-License-Identifier: Apache-2.0
// The clock of a counter: how many of its ticks have passed at a time. Tick n is at the first picosecond at
// which n whole periods have passed.
#pragma once

#include <cstdint>

#include "machine/time.h"

namespace bulkhead::machine::devices {

class device_clock {
public:
    // `frequency_hz`: 1 Hz to 1 THz.
    explicit constexpr device_clock(std::uint64_t frequency_hz) : period_fs_(fs_per_s / frequency_hz) {}

    [[nodiscard]] constexpr std::uint64_t ticks(picoseconds now) const
    {
        return now.value * 1000 / period_fs_;
    }
    [[nodiscard]] constexpr picoseconds time_of(std::uint64_t tick) const
    {
        return {(tick * period_fs_ + 999) / 1000};
    }

private:
    static constexpr std::uint64_t fs_per_s = 1'000'000'000'000'000;

    std::uint64_t period_fs_;
};

} // namespace bulkhead::machine::devices
