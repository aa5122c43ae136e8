// SPDX-License-Identifier: Apache-2.0
// C5, machine S2: private L1s over one LLC. Sweeps give numbers that can be worked out by hand.
#include "machine/hierarchy.h"

#include "make.h"

namespace bulkhead::machine::test::hierarchy_test {

namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t kib = 1024;

class C5Hierarchy : public testing::Test {
protected:
    static l1_pair small_l1()
    {
        const cache l1 = make_cache(geometry(32 * kib, 4, line_bytes), replacement::lru);
        return {l1, l1};
    }

    bool access(l1_pair &core, l1_side side, std::uint64_t address, access_kind kind)
    {
        return core.access(
            side, phys_addr{address}, kind,
            [](phys_addr where) {
                return where.value < 1024 * kib ? std::optional(where.value < 512 * kib ? first : second)
                                                : std::nullopt;
            },
            [this](const l1_miss &miss) { serve(llc, miss); });
    }
    void sweep(l1_pair &core, l1_side side, std::uint64_t from, std::uint64_t bytes, access_kind kind)
    {
        for (std::uint64_t at = from; at < from + bytes; at += line_bytes) {
            ASSERT_TRUE(access(core, side, at, kind));
        }
    }
    std::uint64_t llc_accesses(owner_id owner) { return llc.statistics().of(owner).accesses.get(); }
    std::uint64_t llc_misses(owner_id owner) { return llc.statistics().of(owner).misses.get(); }

    cache llc = make_cache(geometry(256 * kib, 16, line_bytes), replacement::lru);
    l1_pair core0 = small_l1();
    l1_pair core1 = small_l1();
};

// 1. Given empty caches, when 64 KiB are read twice, then L1 (32 KiB, LRU) misses all 2048 times and the LLC
//    misses the first 1024.
TEST_F(C5Hierarchy, S01SweepTwiceTheL1)
{
    sweep(core0, l1_side::data, 0, 64 * kib, access_kind::read);
    sweep(core0, l1_side::data, 0, 64 * kib, access_kind::read);
    EXPECT_EQ(core0.side(l1_side::data).statistics().of(first).misses.get(), 2048U);
    EXPECT_EQ(llc_accesses(first), 2048U);
    EXPECT_EQ(llc_misses(first), 1024U);
}

// 2. Given empty caches, when 16 KiB are read ten times, then only 256 accesses reach the LLC.
TEST_F(C5Hierarchy, S02WhatFitsL1StaysInIt)
{
    for (int pass = 0; pass < 10; ++pass) {
        sweep(core0, l1_side::data, 0, 16 * kib, access_kind::read);
    }
    EXPECT_EQ(core0.side(l1_side::data).statistics().of(first).accesses.get(), 2560U);
    EXPECT_EQ(llc_accesses(first), 256U);
}

// 3. Given 64 KiB written once, when they have passed L1, then the 512 lines that did not fit were written
//    back into the LLC, where they hit: no demand, no allocation, nothing to memory.
TEST_F(C5Hierarchy, S03DirtyVictimsGoToTheLlc)
{
    sweep(core0, l1_side::data, 0, 64 * kib, access_kind::write);
    const owner_statistics &counted = llc.statistics().of(first);
    EXPECT_EQ(counted.accesses.get(), 1024U);
    EXPECT_EQ(counted.received.get(), 512U);
    EXPECT_EQ(counted.received_misses.get(), 0U);
    EXPECT_EQ(counted.write_backs.get(), 0U);
}

// 4. Given a dirty L1 line that the LLC has lost (non-inclusive), when L1 evicts it, then it is allocated in
//    the LLC with its own owner as evictor, whoever caused it.
TEST_F(C5Hierarchy, S04LateWriteBackAllocatesForItsOwner)
{
    access(core0, l1_side::data, 0, access_kind::write);
    sweep(core1, l1_side::data, 512 * kib, 256 * kib, access_kind::read); // fills the LLC
    EXPECT_FALSE(llc.contains(phys_addr{0}));
    EXPECT_EQ(llc.statistics().evicted(first, second).get(), 1U);
    for (std::uint64_t way = 1; way <= 4; ++way) { // same L1 set, other owner
        access(core0, l1_side::data, 512 * kib + way * 8 * kib, access_kind::read);
    }
    EXPECT_TRUE(llc.contains(phys_addr{0}));
    EXPECT_EQ(llc.statistics().of(first).received_misses.get(), 1U);
    EXPECT_EQ(llc.statistics().evicted(second, first).get(), 1U);
}

// 5. Given a line that core 0 has read, when core 1 reads it, then core 1 misses L1 and hits the LLC.
TEST_F(C5Hierarchy, S05CoresShareTheLlcOnly)
{
    access(core0, l1_side::data, 0, access_kind::read);
    access(core1, l1_side::data, 0, access_kind::read);
    EXPECT_EQ(llc_accesses(first), 2U);
    EXPECT_EQ(llc_misses(first), 1U);
}

// 6. Given a line in L1D, when it is fetched as an instruction, then L1I misses and the LLC hits.
TEST_F(C5Hierarchy, S06InstructionsAndDataMeetInTheLlc)
{
    access(core0, l1_side::data, 0, access_kind::read);
    access(core0, l1_side::instruction, 0, access_kind::read);
    EXPECT_EQ(core0.side(l1_side::instruction).statistics().of(first).misses.get(), 1U);
    EXPECT_EQ(llc_misses(first), 1U);
}

// 7. Given an address that nobody can own, when it is accessed, then nothing is cached or counted.
TEST_F(C5Hierarchy, S07OutsideOfRamIsNotCached)
{
    EXPECT_FALSE(access(core0, l1_side::data, 2048 * kib, access_kind::read));
    EXPECT_FALSE(core0.side(l1_side::data).contains(phys_addr{2048 * kib}));
    EXPECT_EQ(llc_accesses(nobody) + llc_accesses(first) + llc_accesses(second), 0U);
}

} // namespace

} // namespace bulkhead::machine::test::hierarchy_test
