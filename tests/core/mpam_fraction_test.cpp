// SPDX-License-Identifier: Apache-2.0
// Shares in the format of MPAM's registers (M3): against the manual's table, and by property for every width.
#include "core/mpam_fraction.h"
#include <gtest/gtest.h>
#include <random>

namespace mpam_fraction_test {
namespace {

struct row {
    std::uint32_t percent;
    std::uint16_t bits8;
    std::uint16_t bits12;
    std::uint16_t bits16;
};

// IHI 0099B, 9.3, The fixed-point fractional format; DDI 0598D, 9.8 (rows of whole percent).
constexpr row table[] = {{1, 0x01, 0x027, 0x028E},  {25, 0x3F, 0x3FF, 0x3FFF}, {33, 0x53, 0x546, 0x5479},
                         {35, 0x58, 0x598, 0x5998}, {45, 0x72, 0x732, 0x7332}, {50, 0x7F, 0x7FF, 0x7FFF},
                         {52, 0x84, 0x850, 0x851D}, {55, 0x8B, 0x8CB, 0x8CCB}, {58, 0x93, 0x946, 0x9479},
                         {75, 0xBF, 0xBFF, 0xBFFF}, {80, 0xCB, 0xCCB, 0xCCCB}, {88, 0xE0, 0xE13, 0xE146},
                         {95, 0xF2, 0xF32, 0xF332}, {100, 0xFF, 0xFFF, 0xFFFF}};

// Compares a / b with c / d exactly.
bool at_most(mpam_share a, mpam_share b)
{
    return std::uint64_t{a.part} * b.of <= std::uint64_t{b.part} * a.of;
}

mpam_share random_share(std::mt19937 &random)
{
    const auto of = std::uniform_int_distribution<std::uint32_t>{1, 1u << (random() % 32)}(random);
    return {std::uniform_int_distribution<std::uint32_t>{0, of}(random), of};
}

TEST(MpamFraction, M3_LimitsAreTheManualsTable)
{
    for (const row &one : table) {
        for (const auto &[width, value] : {std::pair{8u, one.bits8}, {12u, one.bits12}, {16u, one.bits16}}) {
            mpam_fraction to{};
            ASSERT_TRUE(mpam_limit({one.percent, 100}, width, &to));
            EXPECT_EQ(to.field >> (16 - width), value) << one.percent << " % of " << width << " bits";
        }
    }
}

TEST(MpamFraction, M3_ALimitIsTheLargestThatIsNotMoreThanTheShare)
{
    std::mt19937 random{1};
    for (std::uint32_t width = 1; width <= MPAM_FRACTION_BITS; ++width) {
        for (int i = 0; i < 2000; ++i) {
            const mpam_share share = random_share(random);
            mpam_fraction to{};
            const bool fits = mpam_limit(share, width, &to);
            EXPECT_EQ(to.field & ((1u << (16 - width)) - 1), 0u) << "bits that are not implemented";
            EXPECT_EQ(to.got.part, mpam_limit_of(to.field, width).part);
            EXPECT_EQ(fits, at_most(to.got, share));
            if (fits) {
                EXPECT_FALSE(at_most({to.got.part + 1, to.got.of}, share));
            } else {
                EXPECT_EQ(to.got.part, 1u) << "the smallest one is offered";
            }
        }
    }
}

TEST(MpamFraction, M3_AGuaranteeIsTheSmallestThatIsNotLessThanTheShare)
{
    std::mt19937 random{2};
    for (std::uint32_t width = 1; width <= MPAM_FRACTION_BITS; ++width) {
        for (int i = 0; i < 2000; ++i) {
            const mpam_share share = random_share(random);
            mpam_fraction to{};
            const bool fits = mpam_guarantee(share, width, &to);
            EXPECT_EQ(to.field & ((1u << (16 - width)) - 1), 0u);
            EXPECT_EQ(to.got.part, mpam_guarantee_of(to.field, width).part);
            EXPECT_EQ(fits, at_most(share, to.got));
            if (fits && to.got.part > 0) {
                EXPECT_FALSE(at_most(share, {to.got.part - 1, to.got.of}));
            } else if (!fits) {
                EXPECT_EQ(to.got.part, to.got.of - 1) << "the largest one is offered";
            }
        }
    }
}

TEST(MpamFraction, M3_WhatAFieldSaysComesBackFromItsShare)
{
    for (std::uint32_t width = 1; width <= MPAM_FRACTION_BITS; ++width) {
        for (std::uint32_t value = 0; value < 1u << width; ++value) {
            const auto field = static_cast<std::uint16_t>(value << (16 - width));
            mpam_fraction to{};
            ASSERT_TRUE(mpam_limit(mpam_limit_of(field, width), width, &to));
            ASSERT_EQ(to.field, field);
            ASSERT_TRUE(mpam_guarantee(mpam_guarantee_of(field, width), width, &to));
            ASSERT_EQ(to.field, field);
        }
    }
}

TEST(MpamFraction, M3_AGuaranteeOfEverythingCannotBeExpressed)
{
    mpam_fraction to{};
    EXPECT_FALSE(mpam_guarantee({1, 1}, 8, &to));
    EXPECT_EQ(to.field, 0xFF00);
    EXPECT_EQ(to.got.part, 255u);
    EXPECT_TRUE(mpam_limit({1, 1}, 8, &to));
    EXPECT_EQ(to.got.part, to.got.of);
}

} // namespace
} // namespace mpam_fraction_test
