// SPDX-License-Identifier: Apache-2.0
// Slots of a component's MPU (X4): the image, eviction by three policies, violations, live-locks, and that
// components' images are independent of one another.
#include "core/mxu_mpu.h"
#include "core/mxu_regions.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace mxu_regions_test {
namespace {

using bulkhead_test::Random;
using bulkhead_test::Trie;

constexpr std::array<mxu_slot, 2> system_slots = {{{0x08000000, 0x06000027}, {0x40000000, 0x13000013}}};
constexpr std::uint32_t region_bytes = 0x1000;
constexpr std::uint32_t first_range = 0x20000000;

// A component with ranges of 4 KiB, one page apart.
struct Component {
    Trie trie{64};
    mxu_regions regions{};
    std::vector<std::int16_t> ranges{};

    Component(std::uint32_t dynamic, mxu_policy policy, std::uint32_t count, std::uint32_t seed = 1)
    {
        EXPECT_TRUE(mxu_regions_init(&regions, 2 + dynamic, system_slots.data(), 2, policy, seed));
        for (std::uint32_t i = 0; i < count; ++i) {
            add(first_range + 2 * i * region_bytes, region_bytes);
        }
        regions.watched = false;
    }

    std::int16_t add(std::uint32_t first, std::uint32_t bytes)
    {
        const std::int16_t number = trie.insert(first, first + bytes - 1);
        const mxu_region region = mxu_mpu_region_from(first, first + bytes - 1, 32, 0x130B0000);

        EXPECT_EQ(region.last, first + bytes - 1);
        trie->ranges[number].word[0] = region.rbar;
        trie->ranges[number].word[1] = region.rasr;
        ranges.push_back(number);
        return number;
    }

    mxu_range &range(std::size_t i) { return trie->ranges[ranges[i]]; }
    bool covers(std::uint32_t address) const
    {
        return std::any_of(regions.image, regions.image + regions.count, [&](const mxu_slot &slot) {
            return mxu_mpu_covers(slot.rbar, slot.rasr, address, 1);
        });
    }
    const mxu_slot *refill(std::uint32_t address, std::uint32_t pc = 0x08000100)
    {
        return mxu_regions_refill(&regions, trie.get(), address, pc);
    }
    // The slot into which a miss on a range goes.
    std::ptrdiff_t miss(std::size_t i)
    {
        const mxu_slot *slot = refill(range(i).first);
        return slot == nullptr ? -1 : slot - regions.image;
    }
};

TEST(MxuRegions, X4_ARefillLoadsTheRangeThatHoldsTheAddressAndNothingElse)
{
    Component component(6, MXU_ROUND_ROBIN, 12);
    for (std::size_t i = 0; i < 12; ++i) {
        const std::uint32_t address = component.range(i).first + 0x123;
        ASSERT_FALSE(component.covers(address));
        const mxu_slot *slot = component.refill(address);
        ASSERT_NE(slot, nullptr);
        ASSERT_EQ(slot->rbar & 15, slot - component.regions.image) << "the slot's number";
        ASSERT_NE(slot->rbar & MXU_RBAR_VALID, 0u);
        ASSERT_TRUE(component.covers(address));
        ASSERT_FALSE(component.covers(component.range(i).last + 1));
        ASSERT_TRUE(mxu_regions_holds(&component.regions, &component.range(i)));
    }
    EXPECT_EQ(component.regions.image[0].rasr, system_slots[0].rasr) << "slots of the system stay";
    EXPECT_EQ(component.regions.image[1].rbar, 0x40000011u);
}

TEST(MxuRegions, X4_NoRangeOrALoadedOneIsAViolation)
{
    Component component(3, MXU_ROUND_ROBIN, 2);
    EXPECT_EQ(component.refill(first_range + region_bytes), nullptr);
    EXPECT_EQ(mxu_regions_refusal(&component.regions), MXU_VIOLATION);
    EXPECT_NE(component.refill(first_range), nullptr);
    EXPECT_EQ(component.refill(first_range + 4), nullptr)
        << "loaded, so it was the access that is not allowed";
    EXPECT_EQ(mxu_regions_refusal(&component.regions), MXU_VIOLATION);
}

TEST(MxuRegions, X4_RoundRobinAndBitPlruTakeTheirTurns)
{
    Component round(3, MXU_ROUND_ROBIN, 8);
    Component plru(3, MXU_BIT_PLRU, 8);
    std::vector<std::ptrdiff_t> by_round;
    std::vector<std::ptrdiff_t> by_plru;
    for (std::size_t i = 0; i < 8; ++i) {
        by_round.push_back(round.miss(i));
        by_plru.push_back(plru.miss(i));
    }
    EXPECT_EQ(by_round, (std::vector<std::ptrdiff_t>{2, 3, 4, 2, 3, 4, 2, 3}));
    EXPECT_EQ(by_plru, (std::vector<std::ptrdiff_t>{2, 3, 4, 2, 3, 2, 4, 2}));
}

TEST(MxuRegions, X4_BitPlruIsThatOfItsBits)
{
    for (std::uint32_t count = 2; count <= 6; ++count) {
        Component component(count, MXU_BIT_PLRU, 40);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 400; ++i) {
            std::uint32_t due = 0;
            while ((bits >> due & 1) != 0) {
                ++due;
            }
            bits |= 1u << due;
            bits = bits == (1u << count) - 1 ? 1u << due : bits;
            ASSERT_EQ(component.miss(i % 40), static_cast<std::ptrdiff_t>(2 + due))
                << count << " slots, miss " << i;
        }
    }
}

TEST(MxuRegions, X4_RandomReachesAllSlotsAndASeedRepeatsIt)
{
    Component one(4, MXU_RANDOM, 40, 7);
    Component same(4, MXU_RANDOM, 40, 7);
    Component other(4, MXU_RANDOM, 40, 8);
    std::vector<std::ptrdiff_t> first;
    std::vector<std::ptrdiff_t> second;
    std::vector<std::ptrdiff_t> third;
    for (std::size_t i = 0; i < 400; ++i) {
        first.push_back(one.miss(i % 40));
        second.push_back(same.miss(i % 40));
        third.push_back(other.miss(i % 40));
    }
    EXPECT_EQ(first, second);
    EXPECT_NE(first, third);
    for (std::ptrdiff_t slot = 2; slot < 6; ++slot) {
        EXPECT_GT(std::count(first.begin(), first.end(), slot), 50) << slot;
    }
}

TEST(MxuRegions, X4_NoPolicyEvictsWhatWasLoadedLastAndEmptySlotsComeFirst)
{
    for (const mxu_policy policy : {MXU_ROUND_ROBIN, MXU_RANDOM, MXU_BIT_PLRU}) {
        for (std::uint32_t count = 1; count <= 6; ++count) {
            for (std::uint32_t seed = 1; seed <= 40; ++seed) {
                std::array<mxu_turn, MXU_RING_TURNS> ring{};
                std::uint32_t state = seed;
                const std::uint32_t turns = mxu_eviction_ring(policy, 2, count, &state, ring.data());
                ASSERT_LE(turns, MXU_RING_TURNS);
                std::set<std::uint8_t> seen;
                std::uint32_t turn = 0;
                for (std::uint32_t i = 0; i < 300; ++i) {
                    ASSERT_LT(turn, turns);
                    ASSERT_GE(ring[turn].slot, 2);
                    ASSERT_LT(ring[turn].slot, 2 + count);
                    ASSERT_TRUE(i >= count || seen.insert(ring[turn].slot).second) << "the first turns fill";
                    ASSERT_TRUE(count == 1 || ring[turn].slot != ring[ring[turn].next].slot)
                        << policy << " " << count << " seed " << seed << " turn " << i;
                    turn = ring[turn].next;
                }
            }
        }
    }
}

TEST(MxuRegions, X4_StaticRangesStayLoadedAndLeaveOneDynamicSlot)
{
    Component component(3, MXU_BIT_PLRU, 10);
    EXPECT_EQ(mxu_regions_pin(&component.regions, &component.range(0)), MXU_OK);
    EXPECT_EQ(mxu_regions_pin(&component.regions, &component.range(1)), MXU_OK);
    EXPECT_EQ(mxu_regions_pin(&component.regions, &component.range(2)), MXU_EBUSY) << "none would be left";
    EXPECT_EQ(mxu_regions_dynamic(&component.regions), 1u);
    component.regions.watched = false;
    for (std::size_t i = 2; i < 10; ++i) {
        ASSERT_EQ(component.miss(i), 4);
        ASSERT_TRUE(component.covers(component.range(0).first) && component.covers(component.range(1).last));
    }
    EXPECT_EQ(component.refill(component.range(0).first), nullptr) << "static: a fault there is a violation";
    mxu_regions_forget(&component.regions, &component.range(0));
    EXPECT_FALSE(component.covers(component.range(0).first));
    EXPECT_TRUE(component.covers(component.range(1).first)) << "it moved to the other's slot";
    EXPECT_EQ(mxu_regions_dynamic(&component.regions), 2u);
    EXPECT_TRUE(mxu_regions_pinned(&component.regions, &component.range(1)));
    EXPECT_FALSE(mxu_regions_pinned(&component.regions, &component.range(0)));
    EXPECT_NE(component.miss(0), -1);
}

TEST(MxuRegions, X4_AFlushEmptiesDynamicSlotsAndAForgottenRangeIsNowhere)
{
    Component component(4, MXU_RANDOM, 6);
    ASSERT_EQ(mxu_regions_pin(&component.regions, &component.range(0)), MXU_OK);
    for (std::size_t i = 1; i < 4; ++i) {
        component.miss(i);
    }
    mxu_regions_forget(&component.regions, &component.range(2));
    EXPECT_FALSE(component.covers(component.range(2).first));
    EXPECT_TRUE(component.covers(component.range(1).first));
    mxu_regions_forget(&component.regions, &component.range(2));
    EXPECT_TRUE(component.covers(component.range(3).first)) << "forgotten already: nothing to do";
    mxu_regions_flush(&component.regions);
    for (std::size_t i = 1; i < 6; ++i) {
        EXPECT_FALSE(component.covers(component.range(i).first));
    }
    EXPECT_TRUE(component.covers(component.range(0).first));
}

// Misses until an access that needs two ranges completes, with the given policy and slots; 0 if it does not
// complete.
static unsigned crossing(Component &component, std::uint32_t at)
{
    for (unsigned misses = 0; misses < 100; ++misses) {
        const std::uint32_t missing = !component.covers(at) ? at : !component.covers(at + 4) ? at + 4 : 0;
        if (missing == 0) {
            return misses;
        }
        if (component.refill(missing) == nullptr) {
            return 0;
        }
    }
    return 0;
}

TEST(MxuRegions, X4_AnAccessAcrossTwoRangesCompletesWithTwoSlotsAndIsReportedWithOne)
{
    for (const mxu_policy policy : {MXU_ROUND_ROBIN, MXU_RANDOM, MXU_BIT_PLRU}) {
        for (std::uint32_t slots = 1; slots <= 6; ++slots) {
            Component component(slots, policy, 20);
            component.add(first_range + region_bytes, region_bytes);
            component.regions.watched = slots == 1;
            for (std::size_t before = 0; before < 20; ++before) {
                component.miss(before);
                const unsigned misses = crossing(component, first_range + region_bytes - 4);
                if (slots == 1) {
                    ASSERT_EQ(misses, 0u);
                    ASSERT_EQ(mxu_regions_refusal(&component.regions), MXU_LIVELOCK);
                    component.refill(first_range, 4);
                } else {
                    ASSERT_LE(misses, 2u) << policy << " " << slots;
                    ASSERT_TRUE(component.covers(first_range) &&
                                component.covers(first_range + region_bytes));
                }
            }
        }
    }
}

TEST(MxuRegions, X4_TurnsBetweenTwoRangesByDifferentInstructionsAreNoLivelock)
{
    Component component(1, MXU_ROUND_ROBIN, 2);
    component.regions.watched = true;
    for (std::uint32_t i = 0; i < 100; ++i) {
        ASSERT_NE(component.refill(component.range(i % 2).first, 0x08000000 + i % 3), nullptr) << i;
    }
    for (std::uint32_t i = 0; i < 100; ++i) {
        ASSERT_NE(component.refill(component.range(i % 2).first + i / 2 * 4, 0x08000000), nullptr)
            << "other addresses";
    }
}

TEST(MxuRegions, X4_AFetchAcrossTwoRangesLoadsTheSecondOne)
{
    Component component(2, MXU_ROUND_ROBIN, 1);
    component.add(first_range + region_bytes, region_bytes);
    const std::uint32_t pc = first_range + region_bytes - 2;
    ASSERT_NE(mxu_regions_refill_fetch(&component.regions, component.trie.get(), pc), nullptr);
    ASSERT_FALSE(component.covers(pc + 2));
    ASSERT_NE(mxu_regions_refill_fetch(&component.regions, component.trie.get(), pc), nullptr);
    EXPECT_TRUE(component.covers(pc + 2));
    EXPECT_TRUE(component.covers(pc));
    EXPECT_EQ(mxu_regions_refill_fetch(&component.regions, component.trie.get(), pc), nullptr)
        << "both are loaded";
    EXPECT_EQ(mxu_regions_refill_fetch(&component.regions, component.trie.get(), pc - 2), nullptr)
        << "lies in the first one: it may not be executed";
    EXPECT_EQ(
        mxu_regions_refill_fetch(&component.regions, component.trie.get(), first_range + 2 * region_bytes),
        nullptr);
    const mxu_regions before = component.regions;
    EXPECT_EQ(mxu_regions_refill_fetch(&component.regions, component.trie.get(),
                                       first_range + 2 * region_bytes - 2),
              nullptr)
        << "nothing follows the second";
    EXPECT_EQ(before.turn, component.regions.turn);
}

TEST(MxuRegions, X4_TwoComponentsNeverDisturbEachOther)
{
    Component one(3, MXU_ROUND_ROBIN, 10);
    Component other(3, MXU_RANDOM, 10);
    for (std::size_t i = 0; i < 3; ++i) {
        one.miss(i);
    }
    for (std::size_t i = 0; i < 200; ++i) {
        other.miss(i % 10);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(one.covers(one.range(i).first)) << "each has an image of its own";
    }
}

TEST(MxuRegions, X4_AnImageThatLeavesNoDynamicSlotIsRefused)
{
    mxu_regions regions{};
    EXPECT_FALSE(mxu_regions_init(&regions, 2, system_slots.data(), 2, MXU_RANDOM, 1));
    EXPECT_FALSE(mxu_regions_init(&regions, 9, system_slots.data(), 2, MXU_RANDOM, 1));
    EXPECT_FALSE(mxu_regions_init(&regions, 8, system_slots.data(), 2, static_cast<mxu_policy>(3), 1));
    EXPECT_FALSE(mxu_regions_init(&regions, 8, system_slots.data(), 2, MXU_RANDOM, 0));
    EXPECT_TRUE(mxu_regions_init(&regions, 8, nullptr, 0, MXU_RANDOM, 1));
}

} // namespace
} // namespace mxu_regions_test
