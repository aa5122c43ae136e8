// SPDX-License-Identifier: Apache-2.0
// QoS-400 style regulators: the rate holds in the long run, the burst in the short run, the peak always.
#include <gtest/gtest.h>

#include "machine/regulator.h"

namespace bulkhead::machine::test::regulator_test {

namespace {

constexpr std::uint64_t line = 64;

// The time of the last of `count` lines that are all requested at once.
std::uint64_t last_of(regulator &own, int count)
{
    picoseconds when{};
    for (int i = 0; i < count; ++i) {
        when = own.admit(picoseconds{0}, line);
    }
    return when.value;
}

TEST(regulator, without_a_rate_nothing_is_delayed)
{
    regulator own({});
    EXPECT_EQ(last_of(own, 1000), 0U);
    EXPECT_EQ(own.delayed().value, 0U);
}

TEST(regulator, the_rate_is_never_exceeded_in_the_long_run)
{
    regulator own(
        {.rate_bytes_per_s = 64'000'000, .burst_bytes = 0, .peak_bytes_per_s = 0}); // a line in 1 us
    EXPECT_EQ(last_of(own, 1001), 1'000'000'000U);
}

TEST(regulator, a_burst_goes_at_once_after_a_pause_and_not_twice)
{
    regulator own({.rate_bytes_per_s = 64'000'000, .burst_bytes = 4 * line, .peak_bytes_per_s = 0});
    EXPECT_EQ(last_of(own, 5), 0U);
    EXPECT_EQ(last_of(own, 1), 1'000'000U);
}

TEST(regulator, the_peak_spreads_a_burst)
{
    regulator own({.rate_bytes_per_s = 64'000'000, .burst_bytes = 4 * line, .peak_bytes_per_s = 640'000'000});
    EXPECT_EQ(last_of(own, 5), 400'000U);
}

} // namespace

} // namespace bulkhead::machine::test::regulator_test
