// SPDX-License-Identifier: Apache-2.0
// Simulated time: integer picoseconds since the start of a run. Every model that has an own clock converts at
// its border, rounding so that nothing happens early.
#pragma once

#include <compare>
#include <cstdint>

namespace bulkhead::machine {

struct picoseconds {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const picoseconds &) const = default;
    constexpr picoseconds operator+(picoseconds other) const { return {value + other.value}; }
    constexpr picoseconds operator-(picoseconds other) const { return {value - other.value}; }
};

// A clock of a fixed period in femtoseconds: 2133 MT/s is no whole number of picoseconds. Good for
// 5 hours of a 1 GHz clock before the products overflow.
class clock_domain {
public:
    explicit constexpr clock_domain(std::uint64_t period_fs)
        : period_fs_(period_fs), reciprocal_(~std::uint64_t{0} / period_fs)
    {
    }

    // The first edge at or after a time, and the time of an edge in whole picoseconds, not before it.
    [[nodiscard]] constexpr std::uint64_t edge_at(picoseconds when) const
    {
        // A division, by multiplication: the quotient is at most one too small.
        const std::uint64_t dividend = when.value * 1000 + period_fs_ - 1;
        const std::uint64_t quotient = upper_half(dividend, reciprocal_);
        return quotient + (dividend - quotient * period_fs_ >= period_fs_ ? 1 : 0);
    }
    [[nodiscard]] constexpr picoseconds time_of(std::uint64_t edge) const
    {
        return {(edge * period_fs_ + 999) / 1000};
    }

private:
    static constexpr std::uint64_t upper_half(std::uint64_t a, std::uint64_t b)
    {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64U);
    }

    std::uint64_t period_fs_;
    std::uint64_t reciprocal_; // 2^64 / period, rounded down
};

} // namespace bulkhead::machine
