// SPDX-License-Identifier: Apache-2.0
// The machine's random number generator: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", OOPSLA 2014). The same seed gives the same sequence on every host. It must never be seeded
// from anything but a run's inputs.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

class random_source {
public:
    explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t next()
    {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }

    // In [0, bound): the upper half of the product, whose bias is below bound / 2^32.
    constexpr std::uint32_t below(std::uint32_t bound)
    {
        return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
    }

private:
    std::uint64_t state_;
};

// For a choice on every miss: a linear congruential generator (Knuth, TAOCP volume 2, 3.3.4, line 26), of
// which only the upper bits are used.
class quick_random_source {
public:
    explicit constexpr quick_random_source(std::uint64_t seed) : state_(random_source(seed).next()) {}

    // In [0, bound).
    constexpr std::uint32_t below(std::uint32_t bound)
    {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::uint32_t>(((state_ >> 32U) * bound) >> 32U);
    }

private:
    std::uint64_t state_;
};

} // namespace bulkhead::machine
