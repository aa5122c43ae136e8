// SPDX-License-Identifier: Apache-2.0
// Translation tables, checked by an independent walk of the memory.
#include "table_walk.h"
#include <gtest/gtest.h>
#include <memory>
#include <random>

extern "C" {
#include "memory/ptable.h"
#include "memory/table_update.h"
}

namespace ptable_test {
namespace {

constexpr uint64_t attributes = 0x7FC;

class Tables : public testing::Test {
protected:
    Tables() : memory(std::make_unique<char[]>(frames * BH_PAGE_BYTES))
    {
        set.word[0] = 0xF0;
        pool = {.range = {{0xE000}, &set, paddr(0x80008000)},
                .frames = frames,
                .used = 0,
                .linear = memory.get(),
                .sealed = false};
        EXPECT_TRUE(ptable_create(&pool, &root));
    }

    static constexpr uint64_t frames = 300;
    std::unique_ptr<char[]> memory;
    color_set set{};
    struct pool pool;
    paddr_t root;
};

TEST_F(Tables, MapInTheLargestBlocksThatFit)
{
    ASSERT_TRUE(
        ptable_map(&pool, root, 0x40000000, paddr(0xC0000000), 0x40000000 + 0x200000 + 0x1000, attributes));
    EXPECT_EQ(walk(pool, root, 0x40000000 + 12345).level, 1);
    EXPECT_EQ(walk(pool, root, 0x80000000).level, 2);
    EXPECT_EQ(walk(pool, root, 0x80200000).level, 3);
    EXPECT_EQ(walk(pool, root, 0x80200FFF).pa, 0x100200FFFu);
    EXPECT_EQ(walk(pool, root, 0x80201000).level, 0);
    EXPECT_EQ(walk(pool, root, 0x3FFFFFFF).level, 0);
}

TEST_F(Tables, DoNotUseBlocksThatAreMisaligned)
{
    ASSERT_TRUE(ptable_map(&pool, root, 0x40000000, paddr(0xC0001000), 0x200000, attributes));
    EXPECT_EQ(walk(pool, root, 0x40000000).level, 3);
}

TEST_F(Tables, PreparedPagesAreMappedAndRemovedWithoutAllocation)
{
    ASSERT_TRUE(ptable_prepare(&pool, root, 0x1000, 0x600000));
    pool.sealed = true;
    ptable_entry_t *entry = ptable_page_entry(&pool, root, 0x5FF000);
    table_make_el2(entry, paddr(0x123000), attributes);
    EXPECT_EQ(walk(pool, root, 0x5FF123).pa, 0x123123u);
    table_break_el2(entry, 0x5FF000, TABLE_OWN_CORE);
    EXPECT_EQ(walk(pool, root, 0x5FF123).level, 0);
}

TEST_F(Tables, AnExhaustedOrSealedPoolIsSaid)
{
    pool.frames = pool.used;
    EXPECT_FALSE(ptable_map(&pool, root, 0, paddr(0), 0x1000, attributes));
    pool.frames = 300;
    pool.sealed = true;
    EXPECT_FALSE(ptable_map(&pool, root, 0, paddr(0), 0x1000, attributes));
}

TEST_F(Tables, PropertyTheyTranslateWhatWasMappedAndNothingElse)
{
    std::mt19937_64 random(3);
    std::map<uint64_t, uint64_t> expected; // page -> page
    for (int i = 0; i < 60; i++) {
        uint64_t input = (random() % 64) << 21 | (random() % 3 == 0 ? 0 : (random() % 512) << 12);
        uint64_t pa = (random() % 4096) << 21 | (input & 0x1FF000);
        uint64_t bytes = (1 + random() % 600) << 12;
        // Ranges do not overlap, as the caller guarantees.
        auto next = expected.lower_bound(input);
        if ((next != expected.end() && next->first < input + bytes) ||
            !ptable_map(&pool, root, input, paddr(pa), bytes, attributes)) {
            continue;
        }
        for (uint64_t at = 0; at < bytes; at += BH_PAGE_BYTES) {
            expected[input + at] = pa + at;
        }
    }
    ASSERT_GT(expected.size(), 2000u);
    for (uint64_t input = 0; input < 66ull << 21; input += BH_PAGE_BYTES) {
        auto found = expected.find(input);
        const Translation got = walk(pool, root, input);
        ASSERT_EQ(got.level != 0, found != expected.end()) << std::hex << input;
        if (got.level != 0) {
            ASSERT_EQ(got.pa, found->second);
        }
    }
}

} // namespace
} // namespace ptable_test
