// SPDX-License-Identifier: Apache-2.0
// Ranges that one instruction can need (X4), against all positions where an access can begin; and that each
// admitted access completes under each policy from each state.
#include "core/mxu_crossing.h"
#include "core/mxu_mpu.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace mxu_crossing_test {
namespace {

using bulkhead_test::Random;
using bulkhead_test::Trie;

struct Component {
    Trie trie{32};
    mxu_regions regions{};

    Component(std::uint32_t slots, mxu_policy policy)
    {
        EXPECT_TRUE(mxu_regions_init(&regions, slots, nullptr, 0, policy, 1));
    }
    mxu_range *add(std::uint32_t first, std::uint32_t bytes, bool code = false)
    {
        mxu_range *range = &trie->ranges[trie.insert(first, first + bytes - 1)];
        range->word[1] = code ? 0 : MXU_RASR_XN;
        return range;
    }
};

std::uint32_t by_trying(const Component &component, std::uint32_t end, std::uint32_t bytes)
{
    std::uint32_t data = 0;
    std::uint32_t code = 0;
    mxu_trie *trie = const_cast<Component &>(component).trie.get();
    const auto needs = [&](std::uint32_t at, std::uint32_t size, bool fetch) {
        std::set<const mxu_range *> dynamic;
        for (std::uint32_t i = at; i < at + size; ++i) {
            const mxu_range *range = mxu_trie_find(trie, i);
            if (range == nullptr || (fetch && (range->word[1] & MXU_RASR_XN) != 0)) {
                return 0u; // a violation
            }
            if (!mxu_regions_pinned(&component.regions, range)) {
                dynamic.insert(range);
            }
        }
        return static_cast<std::uint32_t>(dynamic.size());
    };
    for (std::uint32_t at = 0; at < end; at += 2) {
        for (std::uint32_t size = 4; size <= bytes && at % 4 == 0; size += 4) {
            data = std::max(data, needs(at, size, false));
        }
        code = std::max({code, needs(at, 2, true), needs(at, 4, true)});
    }
    return data + code;
}

TEST(MxuCrossing, X4_NeededIsWhatTheWorstPlaceOfAnAccessNeeds)
{
    Random random{10};
    for (int round = 0; round < 60; ++round) {
        Component component(8, MXU_ROUND_ROBIN);
        std::uint32_t at = 0;
        for (int i = 0; i < 8; ++i) {
            at += random() % 3 == 0 ? 32 * (random() % 3) : 0;
            const std::uint32_t bytes = 32 * (1 + random() % 3);
            mxu_range *range = component.add(at, bytes, random() % 5 == 0);
            if (random() % 4 == 0) {
                (void)mxu_regions_pin(&component.regions, range);
            }
            at += bytes;
        }
        const std::uint32_t bytes = random() % 2 == 0 ? MXU_LONGEST_ACCESS : MXU_LONGEST_ACCESS_FPU;
        ASSERT_EQ(mxu_crossing_needed(component.trie.get(), &component.regions, bytes),
                  by_trying(component, at, bytes))
            << round;
    }
}

TEST(MxuCrossing, X4_OneSlotIsEnoughForRangesApartAndRefusedForNeighbours)
{
    Component component(1, MXU_ROUND_ROBIN);
    component.add(0x1000, 0x1000);
    component.add(0x3000, 0x1000);
    EXPECT_EQ(mxu_crossing_check(component.trie.get(), &component.regions, MXU_LONGEST_ACCESS), MXU_OK);
    EXPECT_FALSE(component.regions.watched);
    component.add(0x2000, 0x1000);
    EXPECT_EQ(mxu_crossing_check(component.trie.get(), &component.regions, MXU_LONGEST_ACCESS), MXU_ENOHW);
    EXPECT_TRUE(component.regions.watched) << "what goes on all the same is watched";
}

TEST(MxuCrossing, X4_DynamicCodeNeedsSlotsOfItsOwn)
{
    Component component(2, MXU_ROUND_ROBIN);
    component.add(0x1000, 0x1000, true);
    component.add(0x3000, 0x1000);
    EXPECT_EQ(mxu_crossing_needed(component.trie.get(), &component.regions, 64), 2u);
    component.add(0x2000, 0x800, true);
    EXPECT_EQ(mxu_crossing_needed(component.trie.get(), &component.regions, 64), 4u);
    EXPECT_EQ(mxu_crossing_check(component.trie.get(), &component.regions, 64), MXU_ENOHW);
}

TEST(MxuCrossing, X4_AllThatAPolicyKeepsIsLoadedAfterFewMisses)
{
    for (const mxu_policy policy : {MXU_ROUND_ROBIN, MXU_RANDOM, MXU_BIT_PLRU}) {
        for (std::uint32_t slots = 1; slots <= 6; ++slots) {
            const std::uint32_t kept = mxu_crossing_kept(policy, slots);
            for (std::uint32_t before = 0; before < 70; ++before) {
                Component component(slots, policy);
                component.regions.watched = false;
                for (std::uint32_t i = 0; i < 32; ++i) {
                    component.add(i * 64, 32);
                }
                for (std::uint32_t i = 0; i < before; ++i) {
                    (void)mxu_regions_refill(&component.regions, component.trie.get(),
                                             (before + i) % 26 * 64 + 6 * 64, 0);
                }
                std::uint32_t misses = 0;
                for (std::uint32_t i = 0; i < kept;) {
                    if (mxu_regions_refill(&component.regions, component.trie.get(), i * 64, 0) == nullptr) {
                        ++i;
                    } else {
                        i = 0;
                        ASSERT_LE(++misses, 2 * kept) << policy << " " << slots;
                    }
                }
            }
        }
    }
    EXPECT_EQ(mxu_crossing_kept(MXU_RANDOM, 6), 2u);
    EXPECT_EQ(mxu_crossing_kept(MXU_RANDOM, 1), 1u);
    EXPECT_EQ(mxu_crossing_kept(MXU_BIT_PLRU, 6), 6u);
}

} // namespace
} // namespace mxu_crossing_test
