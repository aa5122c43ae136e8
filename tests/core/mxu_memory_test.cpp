// SPDX-License-Identifier: Apache-2.0
// rt_malloc, rt_malloc_at, rt_free and rt_shmget (X1, X2): G1-G5 after each of random calls on both kinds of
// hardware, and each error.
#include "core/mxu_memory.h"
#include "mxu_memory_world.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace mxu_memory_test {
namespace {

using bulkhead_test::MxuWorld;
using bulkhead_test::Random;

constexpr std::uint32_t specs[] = {0,
                                   0,
                                   0,
                                   MXU_DETERMINISTIC,
                                   MXU_L1,
                                   MXU_L2,
                                   MXU_L3,
                                   MXU_INDEPENDENT,
                                   MXU_L2 | MXU_INDEPENDENT,
                                   MXU_DETERMINISTIC | MXU_INDEPENDENT};

// All state that a refused call must leave unchanged.
struct Before {
    std::vector<mxu_frame> frames;
    std::array<mxu_allocation, MxuWorld::allocation_count> allocations;
    std::array<std::uint32_t, MXU_RESOURCES> used{};
    std::array<std::uint32_t, MxuWorld::component_count> ranges{}, pinned{};

    explicit Before(const MxuWorld &world) : frames(world.frame_array), allocations(world.allocations)
    {
        std::copy(std::begin(world.account.used), std::end(world.account.used), used.begin());
        for (std::uint32_t i = 0; i < MxuWorld::component_count; ++i) {
            ranges[i] = world.components[i].trie.used_ranges;
            pinned[i] = world.components[i].regions.first_dynamic;
        }
    }
    bool is_same(const MxuWorld &world) const
    {
        const Before now(world);
        return std::memcmp(frames.data(), now.frames.data(), frames.size() * sizeof(mxu_frame)) == 0 &&
               std::memcmp(&allocations, &now.allocations, sizeof allocations) == 0 && used == now.used &&
               ranges == now.ranges && pinned == now.pinned;
    }
};

void random_calls(MxuWorld &world, unsigned seed, int steps)
{
    Random random{seed};
    int done = 0;
    for (int i = 0; i < steps; ++i) {
        const Before before(world);
        const std::uint32_t bytes = (1 + random() % 40) << (world.frames.frame_bits - 2 + random() % 3);
        mxu_ask ask = world.ask(random() % 3, bytes, specs[random() % std::size(specs)]);
        mxu_status status = MXU_OK;
        ask.align = random() % 4 == 0 ? 1u << (random() % 16) : 0;
        switch (random() % 8) {
        case 0:
        case 1:
        case 2:
            status = world.malloc(ask);
            break;
        case 3:
            status = world.malloc_at(
                world.frames.first + (random() % world.frames.count << world.frames.frame_bits), ask);
            break;
        case 4:
            ask.shared = 1 + random() % 3;
            ask.bytes = 4096;
            ask.spec = specs[ask.shared];
            ask.align = 0;
            status = world.shmget(ask);
            break;
        case 5:
            if (random() % 8 == 0) {
                mxu_free_all(&world.memory, random() % 3);
                break;
            }
            [[fallthrough]];
        default: {
            const mxu_allocation &one = world.allocations[random() % world.allocations.size()];
            if (one.bytes != 0) {
                status = mxu_free(&world.memory, one.component, one.first);
                ASSERT_EQ(status, MXU_OK);
            }
        }
        }
        done += status == MXU_OK;
        ASSERT_TRUE(mxu_memory_is_sound(&world.memory)) << "seed " << seed << ", step " << i;
        if (status != MXU_OK) {
            ASSERT_TRUE(before.is_same(world))
                << mxu_status_name(status) << ": seed " << seed << ", step " << i;
        }
        for (mxu_component &component : world.components) {
            ASSERT_FALSE(component.regions.watched) << "an access could live-lock";
        }
    }
    EXPECT_GT(done, steps / 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        mxu_free_all(&world.memory, i);
    }
    for (std::uint32_t resource = 0; resource < MXU_RESOURCES; ++resource) {
        ASSERT_EQ(world.account.used[resource], 0u);
    }
    for (const mxu_frame &frame : world.frame_array) {
        ASSERT_EQ(frame.kind, MXU_FRAME_FREE);
    }
    for (mxu_component &component : world.components) {
        ASSERT_EQ(component.trie.used_ranges, 0);
        ASSERT_EQ(component.trie.used_nodes, 0);
        ASSERT_TRUE(std::all_of(std::begin(component.tlb.pages), std::end(component.tlb.pages),
                                [](auto n) { return n == 0; }));
    }
}

TEST(MxuMemory, X2_RandomCallsKeepAllGuaranteesOnAnMpu)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto world = MxuWorld::mpu(static_cast<mxu_policy>(seed % 3));
        random_calls(*world, seed, 150);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
}

TEST(MxuMemory, X2_RandomCallsKeepAllGuaranteesOnAnMmu)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto world = MxuWorld::mmu(seed % 2 == 1);
        world->hardware.limit[MXU_OCM_BYTES] = 18432; // one component's tables, and another's in the ways
        world->hardware.limit[MXU_WAY_BYTES] = 19456;
        random_calls(*world, seed, 100);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
}

TEST(MxuMemory, X1_DeterministicMemoryIsLoadedAllTheTime)
{
    const auto world = MxuWorld::mpu();
    ASSERT_EQ(world->malloc(world->ask(0, 5000, MXU_DETERMINISTIC)), MXU_OK);
    const mxu_allocation &memory = world->last();
    EXPECT_EQ(memory.answer.mechanism, MXU_BY_STATIC_REGION);
    EXPECT_EQ(memory.answer.taken[MXU_REGIONS], 1u) << "placed so that one region covers it";
    EXPECT_EQ(memory.bytes, 5120u);
    const mxu_slot &slot = world->components[0].regions.image[2];
    EXPECT_TRUE(mxu_mpu_covers(slot.rbar, slot.rasr, memory.first, memory.bytes));
    EXPECT_FALSE(mxu_mpu_covers(slot.rbar, slot.rasr, memory.first, memory.bytes + 1));
    EXPECT_EQ(mxu_free(&world->memory, 0, memory.first), MXU_OK);
    EXPECT_EQ(mxu_regions_dynamic(&world->components[0].regions), 6u);
}

TEST(MxuMemory, X2_StaticRegionsAreUsedUpAndAComponentHasItsOwn)
{
    const auto world = MxuWorld::mpu();
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(world->malloc(world->ask(0, 1024, MXU_DETERMINISTIC)), MXU_OK);
    }
    EXPECT_EQ(world->malloc_at(0x20010400, world->ask(0, 9 * 1024, MXU_DETERMINISTIC)), MXU_EBUSY);
    EXPECT_EQ(world->answer.lacking, MXU_REGIONS);
    EXPECT_EQ(world->answer.left, 1u);
    EXPECT_EQ(world->malloc_at(0x20010400, world->ask(1, 9 * 1024, MXU_DETERMINISTIC)), MXU_OK)
        << "another component's";
    EXPECT_EQ(world->malloc(world->ask(0, 1024, MXU_DETERMINISTIC)), MXU_OK);
    EXPECT_EQ(world->malloc(world->ask(0, 1024, MXU_DETERMINISTIC)), MXU_EBUSY);
    EXPECT_EQ(world->malloc_at(0x20020400, world->ask(2, 45 * 1024, MXU_DETERMINISTIC)), MXU_OK);
}

TEST(MxuMemory, X4_RangesNextToEachOtherNeedTwoDynamicRegions)
{
    const auto world = MxuWorld::mpu();
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(world->malloc_at(0x20000000 + 0x2000u * static_cast<unsigned>(i),
                                   world->ask(0, 1024, MXU_DETERMINISTIC)),
                  MXU_OK);
    }
    ASSERT_EQ(world->malloc_at(0x20010000, world->ask(0, 1024)), MXU_OK);
    ASSERT_EQ(world->malloc_at(0x20010400, world->ask(0, 1024)), MXU_OK) << "two dynamic regions are left";
    EXPECT_EQ(world->malloc_at(0x20020000, world->ask(0, 1024, MXU_DETERMINISTIC)), MXU_EBUSY)
        << "one would be left, and an access across both live-locks";
    EXPECT_EQ(world->answer.lacking, MXU_REGIONS);
    EXPECT_EQ(world->answer.needed, 2u);
    EXPECT_EQ(world->answer.taken[MXU_REGIONS], 0u) << "a refusal takes nothing";
    EXPECT_EQ(mxu_free(&world->memory, 0, 0x20010400), MXU_OK);
    EXPECT_EQ(world->malloc_at(0x20020000, world->ask(0, 1024, MXU_DETERMINISTIC)), MXU_OK);
    EXPECT_EQ(world->malloc_at(0x20010400, world->ask(0, 1024)), MXU_EBUSY);
    EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
    EXPECT_FALSE(world->components[0].regions.watched);
}

TEST(MxuMemory, X3_AllocationsAreLimitedByMemoryAndNotByRegions)
{
    const auto world = MxuWorld::mpu();
    for (std::uint32_t i = 0; i < MxuWorld::allocation_count; ++i) {
        ASSERT_EQ(world->malloc(world->ask(0, 1024)), MXU_OK) << i << ", with six dynamic regions";
    }
    EXPECT_EQ(world->malloc(world->ask(0, 1024)), MXU_ENOMEM);
    EXPECT_EQ(world->answer.lacking, MXU_RECORDS);
    mxu_free_all(&world->memory, 0);
    EXPECT_EQ(world->malloc(world->ask(0, 300 * 1024)), MXU_ENOMEM);
    EXPECT_EQ(world->answer.lacking, MXU_FRAMES);
    world->memory.most_region_bits = 11;
    EXPECT_EQ(world->malloc(world->ask(0, 128 * 1024)), MXU_ENOMEM) << "64 ranges of 2 KiB";
    EXPECT_EQ(world->answer.lacking, MXU_RECORDS);
    EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
}

TEST(MxuMemory, X1_SharedMemoryIsAgreedOn)
{
    const auto world = MxuWorld::mpu();
    ASSERT_EQ(world->shmget(world->ask(0, 2048, MXU_DETERMINISTIC, 7)), MXU_OK);
    const std::uint32_t at = world->last().first;
    EXPECT_EQ(world->shmget(world->ask(0, 2048, MXU_DETERMINISTIC, 7)), MXU_EEXIST) << "once is enough";
    EXPECT_EQ(world->shmget(world->ask(1, 2048, 0, 7)), MXU_EMISMATCH);
    EXPECT_EQ(world->shmget(world->ask(1, 2047, MXU_DETERMINISTIC, 7)), MXU_EMISMATCH);
    mxu_ask ask = world->ask(1, 2048, MXU_DETERMINISTIC, 7);
    ask.type = MXU_MEMORY_UNCACHED;
    EXPECT_EQ(world->shmget(ask), MXU_EMISMATCH);
    ask.type = MXU_MEMORY_NORMAL;
    ask.rights |= MXU_EXECUTE;
    EXPECT_EQ(world->shmget(ask), MXU_EMISMATCH) << "more rights than the first one";
    ask.rights = MXU_READ;
    ask.align = 0x80000000;
    EXPECT_EQ(world->shmget(ask), MXU_EMISMATCH);
    ask.align = 0;
    ASSERT_EQ(world->shmget(ask), MXU_OK);
    EXPECT_EQ(world->last().first, at);
    EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
    EXPECT_EQ(mxu_free(&world->memory, 0, at), MXU_OK);
    EXPECT_EQ(world->malloc_at(at, world->ask(2, 1024)), MXU_EEXIST) << "the second one holds it";
    EXPECT_EQ(mxu_free(&world->memory, 1, at), MXU_OK);
    EXPECT_EQ(world->malloc_at(at, world->ask(2, 1024)), MXU_OK);
    EXPECT_EQ(world->shmget(world->ask(0, 2048)), MXU_EINVAL) << "no id";
}

TEST(MxuMemory, X1_WhatIsNoSoundRequestIsRefused)
{
    const auto world = MxuWorld::mpu();
    mxu_ask ask = world->ask(0, 1024);
    EXPECT_EQ(world->malloc(world->ask(3, 1024)), MXU_EINVAL);
    EXPECT_EQ(world->malloc(world->ask(0, 0)), MXU_EINVAL);
    EXPECT_EQ(world->malloc(world->ask(0, 1024, 32)), MXU_EINVAL);
    EXPECT_EQ(world->malloc(world->ask(0, UINT32_MAX)), MXU_EINVAL);
    EXPECT_EQ(world->malloc(world->ask(0, 1024, 0, 5)), MXU_EINVAL) << "shared memory has a call of its own";
    EXPECT_EQ(world->malloc_at(0x20000200, ask), MXU_EINVAL);
    EXPECT_EQ(world->malloc_at(0x30000000, ask), MXU_EINVAL);
    ask.align = 3;
    EXPECT_EQ(world->malloc(ask), MXU_EINVAL);
    ask.align = 0x800;
    EXPECT_EQ(world->malloc_at(0x20000400, ask), MXU_EINVAL);
    ask.align = 0;
    ask.rights = MXU_WRITE;
    EXPECT_EQ(world->malloc(ask), MXU_EINVAL);
    EXPECT_EQ(mxu_free(&world->memory, 0, 0x20000000), MXU_ENOENT);
    ASSERT_EQ(world->malloc(world->ask(0, 2048)), MXU_OK);
    EXPECT_EQ(mxu_free(&world->memory, 1, world->last().first), MXU_ENOENT) << "not the caller's";
    EXPECT_EQ(mxu_free(&world->memory, 0, world->last().first + 1024), MXU_ENOENT) << "not where it begins";
}

TEST(MxuMemory, X5_TableNodesArePlacedOncePerComponentAndMoveWithItsNeeds)
{
    const auto world = MxuWorld::mmu();
    constexpr std::uint32_t one_table = 16384 + 1024;
    ASSERT_EQ(world->malloc_at(0x10000000, world->ask(0, 4096, MXU_L2)), MXU_OK);
    EXPECT_EQ(world->answer.mechanism, MXU_BY_OCM);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], one_table);
    ASSERT_EQ(world->malloc_at(0x10001000, world->ask(0, 4096, MXU_L2)), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], one_table) << "the same nodes";
    ASSERT_EQ(world->malloc_at(0x10100000, world->ask(0, 4096, MXU_L3)), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], one_table + 1024);
    ASSERT_EQ(world->malloc_at(0x10200000, world->ask(1, 4096, MXU_L2)), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], 2 * one_table + 1024);
    ASSERT_EQ(world->malloc_at(0x10300000, world->ask(2, 4096, MXU_L2)), MXU_OK);
    EXPECT_EQ(world->answer.mechanism, MXU_BY_LOCKED_WAY) << "less than one table of OCM is left";
    EXPECT_EQ(mxu_free(&world->memory, 0, 0x10000000), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], 2 * one_table + 1024) << "a neighbour needs that node";
    EXPECT_EQ(mxu_free(&world->memory, 0, 0x10001000), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], 2 * one_table);
    EXPECT_EQ(mxu_free(&world->memory, 0, 0x10100000), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_OCM_BYTES], one_table);
    EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
}

TEST(MxuMemory, X5_AColoredTlbKeepsComponentsInTheirSets)
{
    const auto world = MxuWorld::mmu(true);
    for (std::uint32_t component = 0; component < 3; ++component) {
        ASSERT_EQ(world->malloc(world->ask(component, 16 * 4096, MXU_L2 | MXU_INDEPENDENT)), MXU_OK);
        EXPECT_EQ(world->answer.independence, MXU_FULLY);
        EXPECT_EQ(world->last().first >> 12 & 63, 16 * component);
    }
    EXPECT_EQ(world->malloc(world->ask(0, 16 * 4096, MXU_INDEPENDENT)), MXU_OK) << "two ways";
    EXPECT_EQ(world->malloc(world->ask(0, 4096, MXU_INDEPENDENT)), MXU_EBUSY);
    EXPECT_EQ(world->answer.lacking, MXU_TLB_SETS);
    EXPECT_EQ(world->malloc(world->ask(0, 4096)), MXU_OK) << "what need not stay in the TLB";
    EXPECT_EQ(world->malloc(world->ask(0, 17 * 4096)), MXU_ENOHW) << "sixteen sets are next to each other";
    EXPECT_EQ(world->malloc_at(0x10050000, world->ask(0, 4096)), MXU_ENOHW) << "another component's set";
    EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
}

TEST(MxuMemory, X5_LockedEntriesAreFewAndAsidsServeInPart)
{
    const auto world = MxuWorld::mmu();
    ASSERT_EQ(world->malloc(world->ask(0, 2 << 20, MXU_DETERMINISTIC)), MXU_OK);
    EXPECT_EQ(world->answer.taken[MXU_LOCKED_ENTRIES], 2u) << "sections";
    EXPECT_EQ(world->malloc_at(0x10380000, world->ask(1, 0x30000, MXU_L1)), MXU_EBUSY) << "three of 64 KiB";
    EXPECT_EQ(world->answer.needed, 3u);
    EXPECT_EQ(world->answer.left, 2u);
    EXPECT_EQ(world->malloc_at(0x10385000, world->ask(1, 0x5000, MXU_L1)), MXU_ENOHW) << "five pages";
    ASSERT_EQ(world->malloc(world->ask(1, 4096, MXU_INDEPENDENT)), MXU_OK);
    EXPECT_EQ(world->answer.independence, MXU_IN_PART);
    EXPECT_EQ(world->account.used[MXU_ASIDS], 1u);
    ASSERT_EQ(world->malloc(world->ask(1, 4096, MXU_INDEPENDENT)), MXU_OK);
    EXPECT_EQ(world->account.used[MXU_ASIDS], 1u) << "it has one";
    mxu_free_all(&world->memory, 1);
    EXPECT_EQ(world->account.used[MXU_ASIDS], 0u);
    EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
}

TEST(MxuMemory, X2_TheSoundnessCheckSeesWhatIsBroken)
{
    const auto broken = [](auto &&change) {
        const auto world = MxuWorld::mpu();
        EXPECT_EQ(world->malloc_at(0x20000000, world->ask(0, 2048)), MXU_OK);
        EXPECT_EQ(world->malloc_at(0x20000800, world->ask(1, 2048)), MXU_OK);
        EXPECT_TRUE(mxu_memory_is_sound(&world->memory));
        change(*world);
        return !mxu_memory_is_sound(&world->memory);
    };
    EXPECT_TRUE(broken([](MxuWorld &world) { world.allocations[1].first -= 1024; }))
        << "a frame of two components";
    EXPECT_TRUE(broken([](MxuWorld &world) { world.frame_array[1].holders = 2; }));
    EXPECT_TRUE(broken([](MxuWorld &world) { world.frame_array[0].kind = MXU_FRAME_KERNEL; }))
        << "user's and kernel's";
    EXPECT_TRUE(broken([](MxuWorld &world) { world.account.used[MXU_ASIDS] = 1; }));
    EXPECT_TRUE(broken([](MxuWorld &world) { mxu_trie_remove(&world.components[1].trie, 0); }));
    EXPECT_TRUE(broken([](MxuWorld &world) { world.components[0].trie.ranges[0].last += 1024; }));
}

} // namespace
} // namespace mxu_memory_test
