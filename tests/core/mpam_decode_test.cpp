// SPDX-License-Identifier: Apache-2.0
// Requirement M7: what `check` prints corresponds to the register writes. Decoding the writes gives shares
// that keep what was requested, and encoding these shares gives the same writes again.
#include "core/mpam_decode.h"
#include "core/mpam_registers.h"
#include <gtest/gtest.h>
#include <random>

namespace mpam_decode_test {
namespace {

mpam_features any_features(std::mt19937 &random)
{
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    mpam_features of{};
    of.partid_max = of.intpartid_max = 63;
    of.narrowing = below(2) != 0;
    of.cache_portions = below(2) != 0 ? below(MPAM_MAX_PORTIONS + 1) : 0;
    of.capacity_bits = 1 + below(16);
    of.has_cmax = below(2) != 0;
    of.has_soft_cmax = of.has_cmax;
    of.has_cmin = below(2) != 0;
    of.associativity_bits = below(17);
    of.bandwidth_bits = 1 + below(16);
    of.has_min = below(2) != 0;
    of.has_max = of.has_proportional = below(2) != 0;
    of.window_writable = below(2) != 0;
    of.bandwidth_portions = below(2) != 0 ? below(MPAM_MAX_PORTIONS + 1) : 0;
    of.internal = {below(17), below(2) != 0};
    of.downstream = {below(17), below(2) != 0};
    return of;
}

// Whether a is at most b.
bool at_most(mpam_share a, mpam_share b)
{
    return std::uint64_t{a.part} * b.of <= std::uint64_t{b.part} * a.of;
}

TEST(MpamDecode, M7_WhatTheWritesStandForKeepsWhatWasAskedFor)
{
    std::mt19937 random{11};
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    int accepted = 0;
    for (int i = 0; i < 40000; ++i) {
        const mpam_features of = any_features(random);
        mpam_settings settings{};
        settings.asked = below(MPAM_WINDOW << 1) & below(MPAM_WINDOW << 1);
        settings.cache = mpam_portions_run(below(32), 1 + below(8));
        settings.bandwidth = mpam_portions_run(below(32), 1 + below(8));
        for (mpam_share *share : {&settings.cmax, &settings.cmin, &settings.associativity, &settings.mbw_min,
                                  &settings.mbw_max}) {
            *share = {1 + below(1000), 1000};
        }
        settings.stride = 1 + below(1u << of.bandwidth_bits);
        settings.internal_priority = below(1u << of.internal.bits);
        settings.downstream_priority = below(1u << of.downstream.bits);
        settings.window_us = 1 + below(UINT16_MAX);
        if (mpam_settings_check(&of, &settings).refusal != MPAM_ACCEPTED) {
            continue;
        }
        ++accepted;
        mpam_writes writes{}, again{};
        mpam_settings got{};
        mpam_settings_writes(&of, &settings, 1, 5, &writes);
        mpam_settings_decode(&of, &writes, &got);
        ASSERT_EQ(settings.asked & ~got.asked, 0u) << "every control that was asked for is written";
        const auto asked = [&settings](std::uint32_t control) { return (settings.asked & control) != 0; };
        ASSERT_TRUE(!asked(MPAM_CMAX) || at_most(got.cmax, settings.cmax));
        ASSERT_TRUE(!asked(MPAM_CMIN) || at_most(settings.cmin, got.cmin));
        ASSERT_TRUE(!asked(MPAM_ASSOCIATIVITY) || at_most(got.associativity, settings.associativity));
        ASSERT_TRUE(!asked(MPAM_MBW_MAX) || at_most(got.mbw_max, settings.mbw_max));
        ASSERT_TRUE(!asked(MPAM_MBW_MIN) || at_most(settings.mbw_min, got.mbw_min));
        ASSERT_EQ((got.asked & MPAM_MBW_MAX_HARD) != 0, asked(MPAM_MBW_MAX_HARD));
        ASSERT_EQ((got.asked & MPAM_CMAX_SOFT) != 0, asked(MPAM_CMAX_SOFT));
        for (std::uint32_t word = 0; word < MPAM_PORTION_WORDS; ++word) {
            ASSERT_TRUE(!asked(MPAM_CACHE_PORTIONS) || got.cache.word[word] == settings.cache.word[word]);
            ASSERT_TRUE(!asked(MPAM_BANDWIDTH_PORTIONS) ||
                        got.bandwidth.word[word] == settings.bandwidth.word[word]);
        }
        ASSERT_TRUE(!asked(MPAM_PROPORTIONAL) || got.stride == settings.stride);
        ASSERT_TRUE(!asked(MPAM_INTERNAL_PRIORITY) || got.internal_priority == settings.internal_priority);
        ASSERT_TRUE(!asked(MPAM_DOWNSTREAM_PRIORITY) ||
                    got.downstream_priority == settings.downstream_priority);
        ASSERT_TRUE(!asked(MPAM_WINDOW) || got.window_us == settings.window_us);
        ASSERT_EQ(mpam_settings_check(&of, &got).refusal, MPAM_ACCEPTED);
        mpam_settings_writes(&of, &got, 1, 5, &again);
        ASSERT_EQ(again.count, writes.count);
        for (std::uint32_t n = 0; n < writes.count; ++n) {
            ASSERT_EQ(again.write[n].offset, writes.write[n].offset);
            ASSERT_EQ(again.write[n].value, writes.write[n].value);
        }
    }
    EXPECT_GT(accepted, 2000) << "what is refused shows little";
}

} // namespace
} // namespace mpam_decode_test
