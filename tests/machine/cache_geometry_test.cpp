// SPDX-License-Identifier: Apache-2.0
// C5, machine S2: which caches are possible, and the messages for those that are not.
#include "machine/cache_geometry.h"

#include "make.h"

namespace bulkhead::machine::test::cache_geometry_test {

namespace {

struct shape {
    std::uint64_t size;
    std::uint32_t ways;
    std::uint64_t line;
};

std::string reason(const shape &asked)
{
    return reason_of(cache_geometry::make(byte_count{asked.size}, asked.ways, byte_count{asked.line}));
}

TEST(C5CacheGeometry, DerivesSetsOfRealCaches)
{
    EXPECT_EQ(geometry(1U << 20U, 16, 64).sets(), 1024U); // Cortex-A53 L2 of the ZCU102
    EXPECT_EQ(geometry(512U << 10U, 8, 64).sets(), 1024U);
    EXPECT_EQ(geometry(32U << 10U, 4, 64).sets(), 128U);
    EXPECT_EQ(geometry(32U << 10U, 2, 64).sets(), 256U);
    EXPECT_EQ(geometry(64, 1, 64).sets(), 1U);
}

TEST(C5CacheGeometry, GivesBackWhatItWasMadeOf)
{
    const cache_geometry made = geometry(48U << 10U, 12, 32); // ways need no power of two
    EXPECT_EQ(made.size(), byte_count{48U << 10U});
    EXPECT_EQ(made.line(), byte_count{32});
    EXPECT_EQ(made.ways(), 12U);
    EXPECT_EQ(made.sets(), 128U);
}

TEST(C5CacheGeometry, IndexesByTheBitsAboveTheLine)
{
    const cache_geometry made = geometry(1U << 20U, 16, 64);
    EXPECT_EQ(made.set_of(phys_addr{0x4000003F}), 0U);
    EXPECT_EQ(made.set_of(phys_addr{0x40000040}), 1U);
    EXPECT_EQ(made.set_of(phys_addr{0x4000FFC0}), 1023U);
    EXPECT_EQ(made.set_of(phys_addr{0x40010000}), 0U);
}

TEST(C5CacheGeometry, RefusesTheImpossibleWithAReason)
{
    EXPECT_EQ(reason({1024, 4, 48}), "a cache line of 48 B: a power of two from 4 B to 4096 B is needed");
    EXPECT_NE(reason({1024, 4, 0}), "");
    EXPECT_NE(reason({1024, 4, 2}), "");
    EXPECT_NE(reason({1U << 20U, 4, 8192}), "");
    EXPECT_EQ(reason({1024, 0, 64}), "0 ways: 1 to 64 are possible");
    EXPECT_NE(reason({1U << 20U, 128, 64}), "");
    EXPECT_NE(reason({0, 4, 64}), "");
    EXPECT_EQ(reason({1000, 4, 64}), "a size of 1000 B is no multiple of 4 ways of lines of 64 B");
    EXPECT_EQ(reason({48U << 10U, 4, 64}),
              "49152 B in 4 ways of 64 B make 192 sets: a power of two up to 2^24 is needed");
    EXPECT_NE(reason({std::uint64_t{1} << 40U, 1, 64}), "");
}

TEST(C5CacheGeometry, TreePseudoLruNeedsAPowerOfTwoOfWays)
{
    EXPECT_EQ(reason_of(cache::make(geometry(48U << 10U, 12, 64), replacement::tree_plru, 4, 1)),
              "tree pseudo-LRU over 12 ways: a power of two is needed");
    EXPECT_EQ(reason_of(cache::make(geometry(48U << 10U, 12, 64), replacement::lru, 4, 1)), "");
}

TEST(C5CacheGeometry, OwnersFitAByte)
{
    EXPECT_EQ(reason_of(cache::make(geometry(1024, 4, 64), replacement::lru, 0, 1)),
              "0 owners: 1 to 256 are possible");
    EXPECT_NE(reason_of(cache::make(geometry(1024, 4, 64), replacement::lru, 257, 1)), "");
    EXPECT_EQ(reason_of(cache::make(geometry(1024, 4, 64), replacement::lru, 256, 1)), "");
}

TEST(C5CacheGeometry, PoliciesHaveTheNamesOfPlatformFiles)
{
    for (const auto policy : {replacement::lru, replacement::tree_plru, replacement::random}) {
        EXPECT_EQ(replacement_from_name(replacement_name(policy)), policy);
    }
    EXPECT_EQ(replacement_from_name("plru"), replacement::tree_plru);
    EXPECT_EQ(replacement_from_name("fifo"), std::nullopt);
}

} // namespace

} // namespace bulkhead::machine::test::cache_geometry_test
