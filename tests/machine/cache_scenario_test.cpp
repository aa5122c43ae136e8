// SPDX-License-Identifier: Apache-2.0
// C5, machine S2: small stories of one cache, numbered, in given / when / then form.
#include "machine/cache.h"

#include "make.h"

namespace bulkhead::machine::test::cache_scenario_test {

namespace {

constexpr std::uint64_t line_bytes = 64;

phys_addr line(std::uint64_t number)
{
    return phys_addr{number * line_bytes};
}

class C5CacheScenario : public testing::Test {
protected:
    static cache one_set(std::uint32_t ways, replacement policy)
    {
        return make_cache(geometry(ways * line_bytes, ways, line_bytes), policy);
    }
    static bool read(cache &model, std::uint64_t number, owner_id owner = first)
    {
        return model.access(line(number), owner, access_kind::read).hit;
    }
};

// 1. Given an empty cache, when a line is read twice, then the first read misses and the second hits.
TEST_F(C5CacheScenario, S01FirstMissesThenHits)
{
    cache model = one_set(4, replacement::lru);
    EXPECT_FALSE(read(model, 7));
    EXPECT_TRUE(read(model, 7));
    EXPECT_EQ(model.statistics().of(first).accesses.get(), 2U);
    EXPECT_EQ(model.statistics().of(first).misses.get(), 1U);
}

// 2. Given lines 0 to 3 in four LRU ways with 0 used again, when line 4 comes, then 1 goes and 0 stays.
TEST_F(C5CacheScenario, S02LruKeepsWhatWasUsedAgain)
{
    cache model = one_set(4, replacement::lru);
    for (const std::uint64_t number : {0, 1, 2, 3, 0, 4}) {
        read(model, number);
    }
    EXPECT_FALSE(model.contains(line(1)));
    EXPECT_TRUE(model.contains(line(0)));
}

// 3. Given four pseudo-LRU ways filled in order, when line 4 comes, then way 0 goes (all bits point at it);
//    when line 5 comes, then the other half gives way 2: pseudo-LRU, where exact LRU would take way 1.
TEST_F(C5CacheScenario, S03TreePseudoLruAlternatesHalves)
{
    cache model = one_set(4, replacement::tree_plru);
    for (std::uint64_t number = 0; number < 6; ++number) {
        read(model, number);
    }
    EXPECT_FALSE(model.contains(line(0)));
    EXPECT_TRUE(model.contains(line(1)));
    EXPECT_FALSE(model.contains(line(2)));
}

// 4. Given a written line, when it is evicted, then it leaves dirty, and its owner has a write-back; a line
//    that was only read leaves clean.
TEST_F(C5CacheScenario, S04OnlyWrittenLinesAreWrittenBack)
{
    cache model = one_set(1, replacement::lru);
    model.access(line(0), first, access_kind::write);
    const auto dirty = model.access(line(1), second, access_kind::read).victim;
    ASSERT_TRUE(dirty);
    EXPECT_TRUE(dirty->dirty);
    EXPECT_EQ(dirty->line, line(0));
    const auto clean = model.access(line(2), second, access_kind::read).victim;
    ASSERT_TRUE(clean);
    EXPECT_FALSE(clean->dirty);
    EXPECT_EQ(model.statistics().of(first).write_backs.get(), 1U);
    EXPECT_EQ(model.statistics().of(second).write_backs.get(), 0U);
}

// 5. Given a clean line, when it is hit by a write (also when it was the line used last), then it is dirty.
TEST_F(C5CacheScenario, S05WriteHitMakesDirty)
{
    cache model = one_set(1, replacement::lru);
    read(model, 0);
    EXPECT_TRUE(model.access(line(0), first, access_kind::write).hit);
    EXPECT_TRUE(model.access(line(1), first, access_kind::read).victim->dirty);
}

// 6. Given lines of two owners in one set, when each evicts the other's and its own, then the matrix says
//    so.
TEST_F(C5CacheScenario, S06MatrixOfWhoEvictedWhom)
{
    cache model = one_set(1, replacement::lru);
    read(model, 0, first);
    read(model, 1, second);     // second evicts first
    read(model, 2, second);     // second evicts itself
    read(model, 3, hypervisor); // hypervisor evicts second
    const cache_statistics &counted = model.statistics();
    EXPECT_EQ(counted.evicted(first, second).get(), 1U);
    EXPECT_EQ(counted.evicted(second, second).get(), 1U);
    EXPECT_EQ(counted.evicted(second, hypervisor).get(), 1U);
    EXPECT_EQ(counted.evicted(second, first).get(), 0U);
    EXPECT_EQ(counted.evicted_by_others(first), 1U);
    EXPECT_EQ(counted.evicted_by_others(second), 1U);
    EXPECT_EQ(counted.evicted_by_others(hypervisor), 0U);
}

// 7. Given two owners in disjoint sets (colors), when both sweep far more than fits, then none loses a line
//    to the other, under every policy; in shared sets both do.
TEST_F(C5CacheScenario, S07DisjointSetsMeanNoEvictionsByOthers)
{
    for (const auto policy : {replacement::lru, replacement::tree_plru, replacement::random}) {
        for (const bool colored : {true, false}) {
            cache model = make_cache(geometry(64U << 10U, 4, line_bytes), policy);
            const std::uint64_t sets = model.geometry().sets();
            for (std::uint64_t number = 0; number < 16 * sets; ++number) {
                const bool upper_half = number % sets >= sets / 2;
                const bool every_third = (number / sets) % 3 == 0; // out of step with the four ways
                read(model, number, (colored ? upper_half : every_third) ? second : first);
            }
            EXPECT_EQ(model.statistics().evicted_by_others(first) == 0, colored) << replacement_name(policy);
            EXPECT_EQ(model.statistics().evicted_by_others(second) == 0, colored) << replacement_name(policy);
        }
    }
}

// 8. Given a line that is not here, when a write-back of it arrives, then it is allocated dirty with its
//    owner as evictor, and it counts as no demand access.
TEST_F(C5CacheScenario, S08WriteBackAllocates)
{
    cache model = one_set(1, replacement::lru);
    read(model, 0, second);
    const auto victim = model.receive({line(1), first});
    ASSERT_TRUE(victim);
    EXPECT_EQ(victim->owner, second);
    EXPECT_TRUE(model.contains(line(1)));
    const cache_statistics &counted = model.statistics();
    EXPECT_EQ(counted.evicted(second, first).get(), 1U);
    EXPECT_EQ(counted.of(first).accesses.get(), 0U);
    EXPECT_EQ(counted.of(first).received.get(), 1U);
    EXPECT_EQ(counted.of(first).received_misses.get(), 1U);
    EXPECT_TRUE(model.access(line(2), second, access_kind::read).victim->dirty);
}

// 9. Given counts, when the statistics are reset, then they are zero and the contents still hit.
TEST_F(C5CacheScenario, S09ResetOfStatisticsKeepsContents)
{
    cache model = one_set(4, replacement::lru);
    read(model, 0);
    read(model, 1);
    model.statistics().reset();
    EXPECT_EQ(model.statistics().of(first).accesses.get(), 0U);
    EXPECT_TRUE(read(model, 0));
    EXPECT_EQ(model.statistics().of(first).misses.get(), 0U);
}

// 10. Given the line of a set that was used last, then only that one is unchanged by a read; by a write only
//     after it was written, and not any more once it was cleaned or taken out.
TEST_F(C5CacheScenario, S10WhatAnAccessLeavesUnchanged)
{
    cache model = one_set(4, replacement::lru);
    const auto unchanged = [&model](std::uint64_t number, access_kind kind) {
        const cache::recent &last = *model.used_last();
        return (kind == access_kind::write ? last.dirty_line : last.line) == number;
    };
    read(model, 7);
    EXPECT_TRUE(unchanged(7, access_kind::read));
    EXPECT_FALSE(unchanged(7, access_kind::write));
    model.access(line(7), first, access_kind::write);
    EXPECT_TRUE(unchanged(7, access_kind::write));
    read(model, 8);
    EXPECT_FALSE(unchanged(7, access_kind::read));
    EXPECT_FALSE(unchanged(7, access_kind::write));
    EXPECT_FALSE(unchanged(8, access_kind::write));
    read(model, 7);
    EXPECT_TRUE(unchanged(7, access_kind::write)) << "it is still dirty";
    EXPECT_TRUE(model.clean(line(7)));
    EXPECT_TRUE(unchanged(7, access_kind::read));
    EXPECT_FALSE(unchanged(7, access_kind::write));
    model.invalidate(line(7));
    EXPECT_FALSE(unchanged(7, access_kind::read));
}

} // namespace

} // namespace bulkhead::machine::test::cache_scenario_test
