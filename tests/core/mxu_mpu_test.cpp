// SPDX-License-Identifier: Apache-2.0
// Armv7-M regions (X4): exact covers, the fewest of them, against a model of the architecture's matching
// rule.
#include "core/mxu_mpu.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace mxu_mpu_test {
namespace {

using bulkhead_test::Random;

// DDI 0403E, B3.5.3, literally: size from SIZE, base from ADDR, sub-region from the three bits below.
bool matches(std::uint32_t rbar, std::uint32_t rasr, std::uint32_t address)
{
    const std::uint32_t size_field = rasr >> 1 & 31;
    const std::uint64_t size = std::uint64_t{2} << size_field;

    if ((rasr & 1) == 0 || address / size != (rbar & ~31u) / size) {
        return false;
    }
    return size < 256 || (rasr >> 8 >> (address % size / (size / 8)) & 1) == 0;
}

// The smallest number of contiguous regions that cover granules [first, first + count), by trying all.
unsigned fewest(std::uint32_t first, std::uint32_t count, std::uint32_t most_bits)
{
    std::vector<unsigned> best(count + 1, 0);
    for (std::uint32_t from = count; from-- > 0;) {
        best[from] = 1000;
        for (std::uint32_t to = from + 1; to <= count; ++to) {
            for (std::uint32_t bits = 0; bits + 5 <= most_bits; ++bits) {
                const std::uint32_t part = bits < 3 ? 1u << bits : 1u << (bits - 3);
                const bool one = (first + from) % part == 0 && (first + to) % part == 0 &&
                                 (first + from) >> bits == (first + to - 1) >> bits &&
                                 (bits >= 3 || to - from == part);
                if (one) {
                    best[from] = std::min(best[from], 1 + best[to]);
                }
            }
        }
    }
    return best[0];
}

TEST(MxuMpu, X4_ACoverIsExactAndTheFewest)
{
    std::array<mxu_region, 64> regions{};
    for (const std::uint32_t most_bits : {32u, 9u, 7u, 5u}) {
        for (std::uint32_t first = 0; first < 48; ++first) {
            for (std::uint32_t count = 1; count <= 48; ++count) {
                const std::uint32_t from = first * 32;
                const std::uint32_t last = (first + count) * 32 - 1;
                const std::uint32_t got =
                    mxu_mpu_cover(from, last, most_bits, 0, regions.data(), regions.size());

                ASSERT_EQ(got, fewest(first, count, std::min(most_bits, 20u)))
                    << first << "+" << count << " of " << most_bits;
                for (std::uint32_t at = 0; at < 128 * 32; at += 32) {
                    const auto here =
                        std::count_if(regions.begin(), regions.begin() + got, [&](const auto &region) {
                            return matches(region.rbar, region.rasr, at) &&
                                   matches(region.rbar, region.rasr, at + 31);
                        });
                    ASSERT_EQ(here, at >= from && at <= last) << first << "+" << count << " at " << at;
                }
            }
        }
    }
}

TEST(MxuMpu, X4_AnyRangeOfTheAddressSpaceIsCoveredExactly)
{
    Random random{5};
    std::array<mxu_region, 200> regions{};
    for (int i = 0; i < 3000; ++i) {
        std::uint32_t first = random() & ~31u;
        std::uint32_t last = (random() >> random() % 27) | 31u;
        last = first + last < first ? UINT32_MAX : (first + last) | 31u;
        if (i == 0) {
            first = 0;
            last = UINT32_MAX;
        }
        const std::uint32_t got = mxu_mpu_cover(first, last, 32, 0, regions.data(), regions.size());
        ASSERT_GT(got, 0u);
        ASSERT_LE(got, regions.size());
        std::uint64_t at = first;
        for (std::uint32_t r = 0; r < got; ++r) {
            const mxu_region &region = regions[r];
            ASSERT_EQ(region.first, at);
            ASSERT_NE(region.rbar & MXU_RBAR_VALID, 0u);
            for (const std::uint32_t in : {region.first, region.last}) {
                ASSERT_TRUE(matches(region.rbar, region.rasr, in));
                ASSERT_TRUE(mxu_mpu_covers(region.rbar, region.rasr, in, 1));
            }
            if (region.first > 0) {
                ASSERT_FALSE(matches(region.rbar, region.rasr, region.first - 1)) << "more than the range";
            }
            if (region.last < UINT32_MAX) {
                ASSERT_FALSE(matches(region.rbar, region.rasr, region.last + 1));
            }
            at = std::uint64_t{region.last} + 1;
        }
        ASSERT_EQ(at, std::uint64_t{last} + 1);
    }
}

TEST(MxuMpu, X4_WhatIsNoRangeOfGranulesIsRefused)
{
    mxu_region region{};
    EXPECT_EQ(mxu_mpu_cover(16, 63, 32, 0, &region, 1), 0u);
    EXPECT_EQ(mxu_mpu_cover(32, 64, 32, 0, &region, 1), 0u);
    EXPECT_EQ(mxu_mpu_cover(64, 31, 32, 0, &region, 1), 0u);
    EXPECT_EQ(mxu_mpu_cover(0, 31, 4, 0, &region, 1), 0u);
    EXPECT_EQ(mxu_mpu_cover(32, 127, 5, 0, nullptr, 0), 3u) << "counts where there is no room";
}

TEST(MxuMpu, X4_AFitIsCoveredByOneRegionWhereverItIsPlacedSo)
{
    for (std::uint32_t bytes = 1; bytes < 5000; bytes += bytes < 600 ? 1 : 37) {
        std::uint32_t rounded = 0;
        std::uint32_t align = 0;
        std::uint32_t block = 0;
        ASSERT_TRUE(mxu_mpu_fit(bytes, &rounded, &align, &block));
        ASSERT_GE(rounded, bytes);
        ASSERT_LT(rounded - bytes, std::max(32u, rounded / 4 + 1))
            << "no more than an eighth of the block is lost";
        for (std::uint32_t at = 0; at + rounded <= 1u << block; at += 1u << align) {
            ASSERT_EQ(mxu_mpu_cover(at, at + rounded - 1, 32, 0, nullptr, 0), 1u) << bytes << " at " << at;
        }
    }
    std::uint32_t out = 0;
    EXPECT_FALSE(mxu_mpu_fit(0, &out, &out, &out));
    EXPECT_FALSE(mxu_mpu_fit(0xF0000001, &out, &out, &out));
}

TEST(MxuMpu, X4_CoversIsTheArchitecturesMatchOfEachByte)
{
    Random random{6};
    for (int i = 0; i < 20000; ++i) {
        const std::uint32_t bits = 5 + random() % 6;
        const std::uint32_t srd = bits < 8 ? 0 : random() & 0xFF;
        const std::uint32_t rbar = (random() % 4 << bits) | MXU_RBAR_VALID | random() % 8;
        const std::uint32_t rasr = srd << 8 | (bits - 1) << 1 | (random() % 8 != 0);
        const std::uint32_t address = random() % (5u << bits);
        const std::uint32_t bytes = 1 + random() % 64;
        bool all = true;
        for (std::uint32_t at = address; at < address + bytes; ++at) {
            all = all && matches(rbar, rasr, at);
        }
        ASSERT_EQ(mxu_mpu_covers(rbar, rasr, address, bytes), all)
            << std::hex << rbar << " " << rasr << " " << address;
    }
}

TEST(MxuMpu, X4_AttributesSayWhatRightsAre)
{
    std::uint32_t rasr = 0;
    ASSERT_TRUE(mxu_mpu_attributes(MXU_READ, MXU_MEMORY_NORMAL, &rasr));
    EXPECT_EQ(rasr, 0x120B0000u) << "XN, AP 010, TEX 001, C, B";
    ASSERT_TRUE(mxu_mpu_attributes(MXU_READ | MXU_WRITE, MXU_MEMORY_DEVICE, &rasr));
    EXPECT_EQ(rasr, 0x13050000u) << "XN, AP 011, S, B";
    ASSERT_TRUE(mxu_mpu_attributes(MXU_READ | MXU_EXECUTE, MXU_MEMORY_UNCACHED, &rasr));
    EXPECT_EQ(rasr, 0x02080000u) << "AP 010, TEX 001";
    for (const std::uint32_t rights : {0u, 2u, 4u, 6u, 8u, 9u}) {
        EXPECT_FALSE(mxu_mpu_attributes(rights, MXU_MEMORY_NORMAL, &rasr)) << rights;
    }
    EXPECT_FALSE(mxu_mpu_attributes(MXU_READ | MXU_EXECUTE, MXU_MEMORY_DEVICE, &rasr));
}

} // namespace
} // namespace mxu_mpu_test
