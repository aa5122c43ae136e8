// SPDX-License-Identifier: Apache-2.0
// Color arithmetic (C1, C2, C3) against a definition that only enumerates: the granules of a range are the
// addresses whose color is in the set, one after the other.
#include "core/color.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace color_test {
namespace {

uint32_t naive_color(uint64_t bits, uint64_t pa)
{
    uint32_t color = 0;
    unsigned position = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        if ((bits >> bit) & 1) {
            color |= static_cast<uint32_t>((pa >> bit) & 1) << position++;
        }
    }
    return color;
}

color_set set_of(std::initializer_list<uint32_t> colors)
{
    color_set set{};
    for (uint32_t color : colors) {
        set.word[color / 64] |= uint64_t{1} << (color % 64);
    }
    return set;
}

// The first `count` granules at or after `start`, found by testing every address.
std::vector<uint64_t> naive_granules(uint64_t bits, const color_set &set, uint64_t start, size_t count)
{
    const uint64_t granule = uint64_t{1} << __builtin_ctzll(bits);
    std::vector<uint64_t> found;
    for (uint64_t pa = start; found.size() < count; pa += granule) {
        if (color_set_has(&set, naive_color(bits, pa))) {
            found.push_back(pa);
        }
    }
    return found;
}

TEST(Color, C1_CortexA53With1MiBOf16WaysHasEightColorsOf8KiB)
{
    const color_space space{0xE000}; // bits 15..13
    EXPECT_EQ(color_count(space), 8u);
    EXPECT_EQ(color_granule_bytes(space), 8192u);
    EXPECT_EQ(color_of(space, paddr(0x40000000)), 0u);
    EXPECT_EQ(color_of(space, paddr(0x40002000)), 1u);
    EXPECT_EQ(color_of(space, paddr(0x4000FFFF)), 7u);
}

TEST(Color, C2_ContiguousColorsMergeIntoRunsWithinEachPeriod)
{
    const color_set set = set_of({3, 4, 5});
    const color_range range{{0xE000}, &set, paddr(0x40006000)};
    EXPECT_EQ(color_at(&range, 0).value, 0x40006000u);
    EXPECT_EQ(color_at(&range, 0x5FFF).value, 0x4000BFFFu);
    EXPECT_EQ(color_at(&range, 0x6000).value, 0x40016000u); // the next repetition, one period later
    EXPECT_EQ(color_end(&range, 0x6001).value, 0x40016001u);
}

TEST(Color, C2_UncoloredMemoryIsContiguous)
{
    const color_set every = set_of({0});
    const color_range range{{0}, &every, paddr(0x48000000)};
    EXPECT_EQ(color_at(&range, 0x123456).value, 0x48123456u);
    EXPECT_EQ(color_offset(&range, paddr(0x48123456)), 0x123456u);
    EXPECT_EQ(color_count({0}), 1u);
    EXPECT_EQ(color_granule_bytes({0}), 4096u);
}

TEST(Color, C3_CacheAndBankBitsTogetherMakeOneColor)
{
    const color_space space{0xE000 | (uint64_t{3} << 18)}; // LLC bits 15..13, bank bits 19..18
    EXPECT_EQ(color_count(space), 32u);
    EXPECT_EQ(color_of(space, paddr((uint64_t{2} << 18) | 0x6000)), (2u << 3) | 3u);
}

TEST(Color, NextFindsNothingInAnEmptySet)
{
    const color_set none{};
    paddr_t next;
    EXPECT_FALSE(color_next({0xE000}, &none, paddr(0), &next));
}

TEST(Color, NextIsTheAddressItselfIfItQualifies)
{
    const color_set set = set_of({1});
    paddr_t next;
    ASSERT_TRUE(color_next({0xE000}, &set, paddr(0x2000), &next));
    EXPECT_EQ(next.value, 0x2000u);
    ASSERT_TRUE(color_next({0xE000}, &set, paddr(0x2001), &next));
    EXPECT_EQ(next.value, 0x12000u);
}

// Property (C2, C3): for random color bits, sets and starts, color_at() enumerates exactly what the
// definition does, color_offset() inverts color_at(), color_next() finds the first granule, and color_after()
// the others.
TEST(Color, PropertyRangesAreTheEnumerationOfTheirGranules)
{
    std::mt19937_64 random(2);
    for (int round = 0; round < 400; round++) {
        uint64_t bits = 0;
        const unsigned lowest = 12 + static_cast<unsigned>(random() % 4);
        const unsigned wanted = 1 + static_cast<unsigned>(random() % 8);
        bits |= uint64_t{1} << lowest;
        const bool one_field = random() % 2 == 0; // like the index of a cache
        for (unsigned i = 1; i < wanted; i++) {
            bits |= uint64_t{1} << (lowest + (one_field ? i : random() % 14));
        }
        const color_space space{bits};
        const uint32_t colors = color_count(space);
        color_set set{};
        for (uint32_t color = 0; color < colors; color++) {
            if (random() % 3 == 0) {
                set.word[color / 64] |= uint64_t{1} << (color % 64);
            }
        }
        set.word[0] |= colors > 1 ? 2 : 1; // never empty
        if (colors < 64 && random() % 4 == 0) {
            set.word[0] |= ~((uint64_t{1} << colors) - 1); // colors that do not exist
        }
        const uint64_t granule = color_granule_bytes(space);
        const uint64_t start = (random() % (uint64_t{1} << 40)) & ~(granule - 1);
        const auto granules = naive_granules(bits, set, start, 200);

        paddr_t first;
        ASSERT_TRUE(color_next(space, &set, paddr(start), &first));
        ASSERT_EQ(first.value, granules[0]);
        const color_range range{space, &set, first};
        for (size_t i = 0; i < granules.size(); i++) {
            const uint64_t inside = random() % granule;
            const uint64_t offset = i * granule + inside;
            ASSERT_EQ(color_at(&range, offset).value, granules[i] + inside) << std::hex << bits;
            ASSERT_EQ(color_offset(&range, paddr(granules[i] + inside)), offset);
            ASSERT_EQ(color_of(space, paddr(granules[i])), naive_color(bits, granules[i]));
            if (i + 1 < granules.size()) {
                ASSERT_EQ(color_after(&range, paddr(granules[i] + inside)).value, granules[i + 1])
                    << std::hex << bits;
            }
        }
        ASSERT_EQ(color_end(&range, 200 * granule).value, granules[199] + granule);
    }
}

} // namespace
} // namespace color_test
