// SPDX-License-Identifier: Apache-2.0
// The settings of one partition for one resource instance: register values, and the amounts that they mean.
// Fractions are left-aligned in 16 bits; of a value v of w bits a maximum uses the upper end of its band,
// (v + 1) / 2^w, a minimum the lower one, v / 2^w (IHI 0099, 9.3, ISJMHV).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/mpam/settings.h"

namespace bulkhead::machine::mpam {

// `width` implemented bits of a fraction.
constexpr std::uint32_t fraction_mask(std::uint32_t width)
{
    return 0xFFFFU << (16 - std::min(width, 16U)) & 0xFFFFU;
}
constexpr std::uint64_t maximum_of(std::uint32_t field, std::uint32_t width, std::uint64_t whole)
{
    __extension__ using wide = unsigned __int128;
    const std::uint64_t value = (field & 0xFFFFU) >> (16 - width);
    return static_cast<std::uint64_t>(static_cast<wide>(whole) * (value + 1) >> width);
}
constexpr std::uint64_t minimum_of(std::uint32_t field, std::uint32_t width, std::uint64_t whole)
{
    __extension__ using wide = unsigned __int128;
    const std::uint64_t value = (field & 0xFFFFU) >> (16 - width);
    return static_cast<std::uint64_t>((static_cast<wide>(whole) * value + (wide{1} << width) - 1) >> width);
}

constexpr std::uint32_t words_of(std::uint32_t portions)
{
    return (portions + 31) / 32;
}
// The bits of word `word` that stand for portions.
constexpr std::uint32_t word_mask(std::uint32_t portions, std::uint32_t word)
{
    const std::uint32_t left = portions > 32 * word ? portions - 32 * word : 0;
    return left >= 32 ? ~0U : (1U << left) - 1;
}
// Whether these words stand for all portions.
inline bool has_all(const std::vector<std::uint32_t> &words, std::uint32_t portions)
{
    for (std::uint32_t i = 0; i < words_of(portions); ++i) {
        if ((words[i] & word_mask(portions, i)) != word_mask(portions, i)) {
            return false;
        }
    }
    return true;
}

struct partition_controls {
    // Reset values: no limits (IHI 0099, 3.7), here for all PARTIDs, as firmware would set them.
    explicit partition_controls(const resource_settings &of)
    {
        for (std::uint32_t i = 0; i < words_of(of.portions); ++i) {
            cache_portions.push_back(word_mask(of.portions, i));
        }
        capacity_max = of.capacity ? fraction_mask(of.capacity->bits) : 0;
        associativity = of.associativity ? fraction_mask(of.associativity->bits) : 0;
        if (of.bandwidth) {
            for (std::uint32_t i = 0; i < words_of(of.bandwidth->portions); ++i) {
                bandwidth_portions.push_back(word_mask(of.bandwidth->portions, i));
            }
            bandwidth_min = of.bandwidth->bits != 0 ? fraction_mask(of.bandwidth->bits) : 0;
            bandwidth_max = bandwidth_min;
            window = window_of(of.bandwidth->window_ps);
        }
    }

    // MPAMCFG_MBW_WINWD: 1/256 us in bits 23:0.
    static std::uint32_t window_of(std::uint64_t ps)
    {
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ps * 256 / 1'000'000, 1, 0xFFFFFF));
    }
    [[nodiscard]] std::uint64_t window_ps() const
    {
        return std::max<std::uint64_t>(window, 1) * 1'000'000 / 256;
    }

    std::vector<std::uint32_t> cache_portions;
    std::uint32_t capacity_max = 0; // with SOFTLIM
    std::uint32_t capacity_min = 0;
    std::uint32_t associativity = 0;
    std::vector<std::uint32_t> bandwidth_portions;
    std::uint32_t bandwidth_min = 0;
    std::uint32_t bandwidth_max = 0; // with HARDLIM
    std::uint32_t window = 0;
    std::uint32_t proportional = 0; // with EN
    std::uint32_t priority = 0;
};

} // namespace bulkhead::machine::mpam
