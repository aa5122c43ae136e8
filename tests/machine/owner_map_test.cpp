// SPDX-License-Identifier: Apache-2.0
// C5: frames to owners, over several ranges of RAM, and the maps that are refused.
#include "machine/owner_map.h"

#include "make.h"

namespace bulkhead::machine::test::owner_map_test {

namespace {

constexpr std::uint64_t low = 0x40000000;
constexpr std::uint64_t high = 0x800000000;

std::vector<ram_range> two_ranges()
{
    return {{phys_addr{low}, byte_count{2 * frame_bytes}}, {phys_addr{high}, byte_count{frame_bytes}}};
}

std::string refused(std::vector<ram_range> ranges, std::vector<std::uint8_t> owners)
{
    return reason_of(owner_map::make(std::move(ranges), std::move(owners), 4));
}

TEST(C5OwnerMap, FindsTheOwnerOfEveryFrameAndNobodyElsewhere)
{
    const owner_map map = expect_made(owner_map::make(two_ranges(), {1, 2, 3}, 4));
    EXPECT_EQ(map.owner_of(phys_addr{low}), hypervisor);
    EXPECT_EQ(map.owner_of(phys_addr{low + frame_bytes - 1}), hypervisor);
    EXPECT_EQ(map.owner_of(phys_addr{low + frame_bytes}), first);
    EXPECT_EQ(map.owner_of(phys_addr{high + 5}), second);
    EXPECT_EQ(map.owner_of(phys_addr{low + 2 * frame_bytes}), std::nullopt);
    EXPECT_EQ(map.owner_of(phys_addr{low - 1}), std::nullopt);
    EXPECT_EQ(map.owner_of(phys_addr{high + frame_bytes}), std::nullopt);
}

TEST(C5OwnerMap, OffsetsCountThroughAllRangesAndBack)
{
    const owner_map map = expect_made(owner_map::make(two_ranges(), {0, 0, 0}, 4));
    for (const std::uint64_t address : {low, low + 5000, high, high + 4095}) {
        const auto offset = map.offset_of(phys_addr{address});
        ASSERT_TRUE(offset);
        EXPECT_EQ(map.address_at(*offset), phys_addr{address});
    }
    EXPECT_EQ(map.offset_of(phys_addr{high}), 2 * frame_bytes);
    EXPECT_EQ(map.address_at(3 * frame_bytes), std::nullopt);
}

TEST(C5OwnerMap, RefusesMapsThatDoNotFit)
{
    EXPECT_EQ(refused(two_ranges(), {0, 0}), "owners of 2 frames for RAM of 3 frames");
    EXPECT_EQ(refused(two_ranges(), {0, 7, 0}), "frame 1 belongs to owner 7 of 4");
    EXPECT_NE(refused({{phys_addr{low}, byte_count{100}}}, {}), "");
    EXPECT_NE(refused({{phys_addr{low + 1}, byte_count{frame_bytes}}}, {0}), "");
    EXPECT_NE(refused({{phys_addr{low}, byte_count{0}}}, {}), "");
    EXPECT_NE(refused({{phys_addr{low}, byte_count{2 * frame_bytes}},
                       {phys_addr{low + frame_bytes}, byte_count{frame_bytes}}},
                      {0, 0, 0}),
              "");
    EXPECT_NE(refused({{phys_addr{~std::uint64_t{0} - 4095}, byte_count{2 * frame_bytes}}}, {0, 0}), "");
}

} // namespace

} // namespace bulkhead::machine::test::owner_map_test
