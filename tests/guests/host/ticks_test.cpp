// SPDX-License-Identifier: Apache-2.0
//
// Conversions of time agree with exact arithmetic of twice the width, at the frequencies that occur.
extern "C" {
#include "guests/runtime/ticks.h"
}

#include <gtest/gtest.h>

namespace ticks_test {
namespace {

__extension__ using wide = unsigned __int128;

constexpr uint64_t frequencies[] = {1'000'000,  19'200'000,  24'000'000,
                                    62'500'000, 100'000'000, 1'000'000'000};
constexpr uint64_t second_ns = 1'000'000'000;

TEST(Ticks, ToNanosecondsIsExact)
{
    for (uint64_t frequency : frequencies) {
        for (uint64_t ticks :
             {uint64_t{0}, uint64_t{1}, frequency - 1, frequency, frequency * 86'400 + 12'345}) {
            const auto exact = static_cast<uint64_t>(wide{ticks} * second_ns / frequency);
            EXPECT_EQ(ticks_to_ns(ticks, frequency), exact) << ticks << " at " << frequency;
        }
    }
}

TEST(Ticks, FromNanosecondsIsExact)
{
    for (uint64_t frequency : frequencies) {
        for (uint64_t ns :
             {uint64_t{0}, uint64_t{1}, uint64_t{999}, second_ns - 1, second_ns, second_ns * 86'400 + 7}) {
            const auto exact = static_cast<uint64_t>(wide{ns} * frequency / second_ns);
            EXPECT_EQ(ns_to_ticks(ns, frequency), exact) << ns << " at " << frequency;
        }
    }
}

} // namespace
} // namespace ticks_test
