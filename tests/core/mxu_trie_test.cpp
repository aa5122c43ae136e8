// SPDX-License-Identifier: Apache-2.0
// The trie of ranges (X3, X8) compared with a sorted map: contents, shape, bounds, and that a failed call
// changes nothing.
#include "core/mxu_trie.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace mxu_trie_test {
namespace {

using bulkhead_test::Random;
using bulkhead_test::Ranges;
using bulkhead_test::Trie;
using bulkhead_test::wrong_with;

// The range of a map that holds an address, or end().
Ranges::const_iterator holder(const Ranges &ranges, std::uint32_t address)
{
    const auto after = ranges.upper_bound(address);
    return after != ranges.begin() && std::prev(after)->second >= address ? std::prev(after) : ranges.end();
}

bool overlaps(const Ranges &ranges, std::uint32_t first, std::uint32_t last)
{
    const auto after = ranges.upper_bound(last);
    return after != ranges.begin() && std::prev(after)->second >= first;
}

void expect_lookup(Trie &trie, const Ranges &ranges, std::uint32_t address)
{
    const std::int16_t found = mxu_trie_lookup(trie.get(), address);
    const auto due = holder(ranges, address);

    ASSERT_EQ(found != MXU_NONE, due != ranges.end()) << std::hex << address;
    if (found != MXU_NONE) {
        ASSERT_EQ(trie.range(found).first, due->first);
    }
    ASSERT_LE(mxu_trie_steps(trie.get(), address), MXU_TRIE_LEVELS);
    const std::int16_t before = mxu_trie_at_or_before(trie.get(), address);
    const auto after = ranges.upper_bound(address);
    ASSERT_EQ(before != MXU_NONE, after != ranges.begin()) << std::hex << address;
    if (before != MXU_NONE) {
        ASSERT_EQ(trie.range(before).first, std::prev(after)->first);
    }
}

// Ranges as components have them: few alignments, adjacent neighbours, sometimes any size.
std::pair<std::uint32_t, std::uint32_t> random_range(Random &random)
{
    static constexpr std::array<std::uint32_t, 6> bases = {0,          0x08000000, 0x20000000,
                                                           0x60000000, 0xC0000000, 0xFFFF0000};
    const std::uint32_t bits = MXU_GRANULE_BITS + random() % (random() % 8 == 0 ? 26 : 12);
    const std::uint32_t size = (random() % 2 == 0 ? 1u : 1u + random() % 7) << bits;
    const std::uint32_t first =
        (bases[random() % bases.size()] + (random() % 64 << (MXU_GRANULE_BITS + random() % 12))) &
        ~(MXU_GRANULE - 1);
    const std::uint32_t last = first + size - 1;
    return last < first ? std::pair{first, UINT32_MAX} : std::pair{first, last};
}

std::uint32_t near_something(Random &random, const Ranges &ranges)
{
    if (ranges.empty() || random() % 8 == 0) {
        return random();
    }
    const auto at = std::next(ranges.begin(), static_cast<std::ptrdiff_t>(random() % ranges.size()));
    return (random() % 2 == 0 ? at->first : at->second) +
           (random() % 3 - 1) * (random() % 2 == 0 ? 1 : MXU_GRANULE);
}

struct RandomRun {
    Trie trie;
    Ranges ranges{};
    Random random;

    RandomRun(std::uint16_t count, std::uint16_t nodes, unsigned seed) : trie(count, nodes), random(seed) {}

    void insert()
    {
        const auto [first, last] = random_range(random);
        std::int16_t number = MXU_NONE;
        const mxu_status status = mxu_trie_insert(trie.get(), first, last, &number);

        if (overlaps(ranges, first, last)) {
            ASSERT_EQ(status, MXU_EEXIST);
        } else if (status == MXU_OK) {
            ranges[first] = last;
        } else {
            ASSERT_EQ(status, MXU_ENOMEM);
            ASSERT_TRUE(ranges.size() == trie->range_count ||
                        trie->node_count - trie->used_nodes < static_cast<int>(MXU_TRIE_NEW_NODES));
        }
    }

    std::int16_t any()
    {
        const auto at = std::next(ranges.begin(), static_cast<std::ptrdiff_t>(random() % ranges.size()));
        return mxu_trie_lookup(trie.get(), at->first);
    }

    void split()
    {
        const std::int16_t number = any();
        const mxu_range old = trie.range(number);
        const std::uint32_t at =
            old.first + (random() % ((old.last - old.first) / MXU_GRANULE + 2)) * MXU_GRANULE;
        std::int16_t upper = MXU_NONE;
        const mxu_status status = mxu_trie_split(trie.get(), number, at, &upper);

        if (at <= old.first || at > old.last) {
            ASSERT_EQ(status, MXU_EINVAL);
        } else if (status == MXU_OK) {
            ranges[old.first] = at - 1;
            ranges[at] = old.last;
            ASSERT_EQ(trie.range(upper).first, at);
        } else {
            ASSERT_EQ(status, MXU_ENOMEM);
        }
    }

    void step()
    {
        const unsigned what = random() % 8;
        if (what < 4 || ranges.empty()) {
            insert();
        } else if (what < 5) {
            split();
        } else {
            const std::int16_t number = any();
            ranges.erase(trie.range(number).first);
            mxu_trie_remove(trie.get(), number);
        }
    }
};

TEST(MxuTrie, X3_RandomOperationsAreThoseOfASortedMap)
{
    for (unsigned seed = 0; seed < 12; ++seed) {
        RandomRun run(64, MXU_TRIE_NODES(64), seed);
        for (int i = 0; i < 300; ++i) {
            run.step();
            ASSERT_FALSE(testing::Test::HasFatalFailure());
            ASSERT_EQ(wrong_with(*run.trie.get(), run.ranges), "") << "seed " << seed << ", step " << i;
            for (int look = 0; look < 12; ++look) {
                expect_lookup(run.trie, run.ranges, near_something(run.random, run.ranges));
            }
        }
    }
}

TEST(MxuTrie, X3_WithoutEnoughNodesNothingChanges)
{
    int refused = 0;
    for (unsigned seed = 0; seed < 12; ++seed) {
        RandomRun run(64, static_cast<std::uint16_t>(1 + seed), seed);
        for (int i = 0; i < 400; ++i) {
            const std::size_t before = run.ranges.size();
            run.step();
            refused += run.ranges.size() == before;
            ASSERT_FALSE(testing::Test::HasFatalFailure());
            ASSERT_EQ(wrong_with(*run.trie.get(), run.ranges), "") << "seed " << seed << ", step " << i;
        }
    }
    EXPECT_GT(refused, 100);
}

TEST(MxuTrie, X3_EveryErrorHasItsCase)
{
    Trie trie(2);
    std::int16_t number = MXU_NONE;

    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x20, 0x1F, &number), MXU_EINVAL);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x10, 0x3F, &number), MXU_EINVAL);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x20, 0x40, &number), MXU_EINVAL);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x40, 0xBF, &number), MXU_OK);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x00, 0x5F, &number), MXU_EEXIST);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0xA0, 0xDF, &number), MXU_EEXIST);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x00, 0xFFFFFFFF, &number), MXU_EEXIST);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0xC0, 0xFFFFFFFF, &number), MXU_OK);
    EXPECT_EQ(mxu_trie_insert(trie.get(), 0x00, 0x1F, &number), MXU_ENOMEM) << "two ranges";
    EXPECT_EQ(mxu_trie_split(trie.get(), 0, 0x60, &number), MXU_ENOMEM);
    EXPECT_EQ(wrong_with(*trie.get(), {{0x40, 0xBF}, {0xC0, 0xFFFFFFFF}}), "");
}

TEST(MxuTrie, X3_ASplitKeepsWordsAndOwner)
{
    Trie trie(4);
    const std::int16_t number = trie.insert(0x20000000, 0x2000FFFF);
    std::int16_t upper = MXU_NONE;

    trie->ranges[number].word[0] = 1;
    trie->ranges[number].word[1] = 2;
    trie->ranges[number].flags = 3;
    trie->ranges[number].allocation = 4;
    ASSERT_EQ(mxu_trie_split(trie.get(), number, 0x20004000, &upper), MXU_OK);
    EXPECT_EQ(trie.range(upper).word[0], 1u);
    EXPECT_EQ(trie.range(upper).word[1], 2u);
    EXPECT_EQ(trie.range(upper).flags, 3);
    EXPECT_EQ(trie.range(upper).allocation, 4);
    EXPECT_EQ(mxu_trie_lookup(trie.get(), 0x20003FFF), number);
    EXPECT_EQ(mxu_trie_lookup(trie.get(), 0x20004000), upper);
}

// All sets of ranges over 8 granules at a boundary where all levels meet, inserted and removed in any
// rotation.
TEST(MxuTrie, X3_AllSetsOfRangesAcrossTheMiddleOfTheAddressSpace)
{
    constexpr std::uint32_t start = 0x80000000 - 4 * MXU_GRANULE;
    constexpr std::uint32_t cells = 8;

    // A cell begins a range, continues one, or is empty: 3^8 sets.
    for (std::uint32_t code = 0; code < 6561; ++code) {
        Trie trie(cells);
        Ranges ranges;
        std::uint32_t open = UINT32_MAX;
        std::uint32_t left = code;
        for (std::uint32_t cell = 0; cell < cells; ++cell, left /= 3) {
            if (left % 3 == 1 || (left % 3 == 2 && open == UINT32_MAX)) {
                open = start + cell * MXU_GRANULE;
            }
            if (left % 3 == 0) {
                open = UINT32_MAX;
            } else {
                ranges[open] = start + (cell + 1) * MXU_GRANULE - 1;
            }
        }
        std::vector<std::pair<std::uint32_t, std::uint32_t>> order(ranges.begin(), ranges.end());
        std::rotate(order.begin(),
                    order.begin() + (order.empty() ? 0 : static_cast<int>(code % order.size())), order.end());
        Ranges so_far;
        for (const auto &[first, last] : order) {
            trie.insert(first, last);
            so_far[first] = last;
        }
        ASSERT_EQ(wrong_with(*trie.get(), so_far), "") << code;
        for (std::uint32_t at = start - 1; at != start + cells * MXU_GRANULE + 1; ++at) {
            if (at % MXU_GRANULE < 2 || at % MXU_GRANULE > 30) {
                expect_lookup(trie, so_far, at);
            }
        }
        for (const auto &[first, last] : order) {
            mxu_trie_remove(trie.get(), mxu_trie_lookup(trie.get(), last));
            so_far.erase(first);
            ASSERT_EQ(wrong_with(*trie.get(), so_far), "") << code;
        }
    }
}

TEST(MxuTrie, X8_SixtyFourRangesNeedFourLevelsAtMostAndCanNeedThem)
{
    Trie trie(64);
    Ranges ranges;

    // At 32^k granules before the end of the address space, so that each level branches on the same path.
    for (std::uint32_t shift = MXU_TRIE_TOP; shift >= MXU_GRANULE_BITS; shift -= MXU_TRIE_STRIDE) {
        const std::uint32_t first = 0u - (2u << shift);
        trie.insert(first, first + MXU_GRANULE - 1);
        ranges[first] = first + MXU_GRANULE - 1;
    }
    trie.insert(0u - MXU_GRANULE, UINT32_MAX);
    ranges[0u - MXU_GRANULE] = UINT32_MAX;
    for (std::uint32_t i = 0; ranges.size() < 64; ++i) {
        trie.insert(i << 24, (i << 24) + MXU_GRANULE - 1);
        ranges[i << 24] = (i << 24) + MXU_GRANULE - 1;
    }
    ASSERT_EQ(wrong_with(*trie.get(), ranges), "");
    EXPECT_EQ(mxu_trie_steps(trie.get(), 0u - 2u * MXU_GRANULE), MXU_TRIE_LEVELS);
}

TEST(MxuTrie, X8_NodesForNRangesAlwaysSuffice)
{
    // Adjacent ranges at addresses of odd granules share a node of every level.
    for (const std::uint16_t count :
         {std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{17}, std::uint16_t{64}}) {
        Trie trie(count);
        Ranges ranges;
        std::uint32_t first = 0;
        for (std::uint32_t i = 1; i <= count; ++i) {
            const auto end =
                static_cast<std::uint32_t>((std::uint64_t{i} << 32) / count / MXU_GRANULE * MXU_GRANULE);
            trie.insert(first, end - 1);
            ranges[first] = end - 1;
            first = end;
        }
        ASSERT_EQ(wrong_with(*trie.get(), ranges), "");
        EXPECT_LE(trie->used_nodes, MXU_TRIE_LEVELS * (count - 1u));
    }
}

TEST(MxuTrie, X3_AlignedPowersOfTwoNeedOneNodeLessThanRangesAtMost)
{
    Trie trie(64, 63);
    Random random{3};
    Ranges ranges;

    while (ranges.size() < 64) {
        const std::uint32_t bits = MXU_GRANULE_BITS + random() % 20;
        const std::uint32_t first = random() >> bits << bits;
        const std::uint32_t last = first + ((1u << bits) - 1);
        if (!overlaps(ranges, first, last)) {
            trie.insert(first, last);
            ranges[first] = last;
        }
    }
    EXPECT_EQ(wrong_with(*trie.get(), ranges), "");
}

TEST(MxuTrie, X3_NodesComeFromTheStrongestMemoryAndMove)
{
    Trie trie(8, 12);
    mxu_trie_give(trie.get(), 0, 2, MXU_PLACE_OCM);
    const Ranges ranges = {{0x20000000, 0x20000FFF}, {0x20001000, 0x20001FFF}, {0x60000000, 0x6000001F},
                           {0x60000020, 0x6000003F}, {0xC0000000, 0xC000001F}, {0xC0000100, 0xC00001FF}};
    for (const auto &[first, last] : ranges) {
        trie.insert(first, last);
    }
    ASSERT_EQ(wrong_with(*trie.get(), ranges), "");
    ASSERT_EQ(trie->used_nodes, 3) << "one for each pair";
    const std::int16_t last = mxu_trie_lookup(trie.get(), 0xC0000100);
    EXPECT_EQ(mxu_trie_placement(trie.get(), 0), MXU_PLACE_OCM) << "the first two nodes";
    EXPECT_EQ(mxu_trie_placement(trie.get(), last), MXU_PLACE_PLAIN);
    EXPECT_EQ(mxu_trie_place(trie.get(), last, MXU_PLACE_OCM), MXU_ENOMEM) << "both are used";
    for (const std::uint32_t first : {0x20000000u, 0x20001000u}) {
        mxu_trie_remove(trie.get(), mxu_trie_lookup(trie.get(), first));
    }
    EXPECT_EQ(mxu_trie_place(trie.get(), last, MXU_PLACE_OCM), MXU_OK);
    EXPECT_EQ(mxu_trie_placement(trie.get(), last), MXU_PLACE_OCM);
    Ranges left = ranges;
    left.erase(0x20000000);
    left.erase(0x20001000);
    EXPECT_EQ(wrong_with(*trie.get(), left), "");
}

} // namespace
} // namespace mxu_trie_test
