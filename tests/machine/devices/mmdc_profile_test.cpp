// SPDX-License-Identifier: Apache-2.0
// The MMDC's profiling registers, as a driver uses them (B5): reset, enable, differences of busy and all
// cycles.
#include "machine/devices/mmdc_profile.h"

#include <gtest/gtest.h>

namespace bulkhead::machine::devices::mmdc_profile_test {
namespace {

constexpr std::uint64_t control = 0x410;
constexpr std::uint64_t cycles = 0x418;
constexpr std::uint64_t busy = 0x41C;
constexpr std::uint64_t reads = 0x420;
constexpr std::uint64_t bytes_written = 0x42C;

// A memory of 1 cycle a nanosecond, busy for a quarter of the time.
dram::memory_profile quarter(picoseconds now)
{
    const std::uint64_t passed = now.value / 1000;
    return {.cycles = passed, .busy_cycles = passed / 4, .read = {passed * 16}, .written = {passed * 4}};
}

picoseconds ns(std::uint64_t count)
{
    return picoseconds{count * 1000};
}

TEST(MmdcProfile, B5_CountsBetweenResetAndNow)
{
    mmdc_profile one(quarter, 64);
    EXPECT_EQ(one.read(cycles, ns(500)), 0U) << "off out of reset";
    one.write(control, 2, ns(1000));
    one.write(control, 1, ns(1000));
    EXPECT_EQ(one.read(cycles, ns(5000)), 4000U);
    EXPECT_EQ(one.read(busy, ns(5000)), 1000U);
    EXPECT_EQ(one.read(reads, ns(5000)), 4000U * 16 / 64);
    EXPECT_EQ(one.read(bytes_written, ns(5000)), 16000U);
    EXPECT_EQ(one.read(control, ns(5000)), 1U);
    EXPECT_EQ(one.read(0, ns(5000)) + one.read(0x430, ns(5000)), 0U) << "nothing else is here";
}

TEST(MmdcProfile, B5_FrozenCountersStandAndGoOn)
{
    mmdc_profile one(quarter, 64);
    one.write(control, 1, ns(0));
    one.write(control, 1 | 4, ns(1000));
    EXPECT_EQ(one.read(cycles, ns(9000)), 1000U);
    one.write(control, 1, ns(9000));
    EXPECT_EQ(one.read(cycles, ns(9500)), 1500U);
    one.write(control, 1 | 2, ns(10000));
    EXPECT_EQ(one.read(cycles, ns(10300)), 300U);
}

TEST(MmdcProfile, B5_WrapsAt32Bits)
{
    mmdc_profile one(quarter, 64);
    one.write(control, 1, ns(0));
    EXPECT_EQ(one.read(cycles, ns((std::uint64_t{1} << 32) + 7)), 7U);
}

} // namespace
} // namespace bulkhead::machine::devices::mmdc_profile_test
