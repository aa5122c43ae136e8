// SPDX-License-Identifier: Apache-2.0
// Simulated time: integer picoseconds since the start of a run. A model with its own clock converts at its
// interface and rounds so that nothing happens early.
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

// A clock with a fixed period in femtoseconds, because the period of 2133 MT/s is not a whole number of
// picoseconds. The products overflow after 5 hours.
class clock_domain {
public:
    explicit constexpr clock_domain(std::uint64_t period_fs)
        : period_fs_(period_fs), reciprocal_(~std::uint64_t{0} / period_fs)
    {
    }

    // edge_at(): the first edge at or after a time. time_of(): the time of an edge in picoseconds, rounded
    // up.
    [[nodiscard]] constexpr std::uint64_t edge_at(picoseconds when) const
    {
        // A division by multiplication: the quotient is at most one too small.
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
