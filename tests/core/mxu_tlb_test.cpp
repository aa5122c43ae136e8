// SPDX-License-Identifier: Apache-2.0
// Lockable entries and sets of the main TLB (X5), against searches.
#include "core/mxu_tlb.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mxu_tlb_test {
namespace {

using bulkhead_test::Random;

constexpr std::uint32_t all_sizes =
    MXU_ENTRY_SMALL | MXU_ENTRY_LARGE | MXU_ENTRY_SECTION | MXU_ENTRY_SUPERSECTION;

TEST(MxuTlb, X5_FourSupersectionsMapTheStridePattern)
{
    EXPECT_EQ(mxu_locked_entries(0x40000000, 0x00000000, 64u << 20, all_sizes), 4u);
    EXPECT_EQ(mxu_locked_entries(0x40000000, 0x00100000, 64u << 20, all_sizes), 64u)
        << "aligned for sections only";
    EXPECT_EQ(mxu_locked_entries(0x40000000, 0x00100000, 64u << 20, MXU_ENTRY_SUPERSECTION), 0u);
    EXPECT_EQ(mxu_locked_entries(0x40000000, 0, 0x800, all_sizes), 0u) << "less than a page";
    EXPECT_EQ(mxu_locked_entries(0xFFFFF000, 0, 0x2000, all_sizes), 0u) << "beyond the address space";
    EXPECT_EQ(mxu_locked_entries(0xFFFFF000, 0xFFFFF000, 0x1000, all_sizes), 1u);
}

TEST(MxuTlb, X5_EntriesAreTheFewest)
{
    // Sizes of 1, 4 and 16 pages in place of 16 each, so that all partitions can be tried.
    constexpr std::uint32_t sizes = 1u << 12 | 1u << 14 | 1u << 16;
    for (std::uint32_t first = 0; first < 20; ++first) {
        for (std::uint32_t skew : {0u, 1u, 4u}) {
            std::vector<std::uint32_t> best(65, 0);
            for (std::uint32_t from = 64; from-- > 0;) {
                best[from] = 1000;
                for (const std::uint32_t size : {1u, 4u, 16u}) {
                    if ((first + from) % size == 0 && skew % size == 0 && from + size <= 64) {
                        best[from] = std::min(best[from], 1 + best[from + size]);
                    }
                }
            }
            ASSERT_EQ(mxu_locked_entries(first << 12, (first + skew) << 12, 64u << 12, sizes), best[0]);
        }
    }
}

TEST(MxuTlb, X5_PagesLieInOwnSetsAndNoSetHasMoreThanItsWays)
{
    Random random{8};
    for (int round = 0; round < 300; ++round) {
        const mxu_tlb tlb{16, 2};
        mxu_tlb_share share{};
        share.sets = random() & random() % 0x10000;
        share.sets |= random() % 2 == 0 ? 0xFF : 0;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
        for (int i = 0; i < 20; ++i) {
            const std::uint32_t pages = 1 + random() % 20;
            const std::uint32_t from = random() % 0x40000;
            std::uint32_t address = 0;
            const mxu_status status = mxu_tlb_find(&tlb, &share, pages, true, from, &address);
            const auto fits = [&](std::uint32_t at, bool counted) {
                std::vector<std::uint32_t> in(16);
                for (std::uint32_t page = 0; page < pages; ++page) {
                    ++in[(at / 4096 + page) % 16];
                }
                for (std::uint32_t set = 0; set < 16; ++set) {
                    const std::uint32_t before = counted ? share.pages[set] : 0;
                    if (in[set] != 0 && ((share.sets >> set & 1) == 0 || in[set] + before > 2)) {
                        return false;
                    }
                }
                return true;
            };
            bool now = false;
            bool ever = false;
            std::uint32_t due = 0;
            for (std::uint32_t page = (from + 4095) / 4096; page < (from + 4095) / 4096 + 16; ++page) {
                due = !now && fits(page * 4096, true) ? page * 4096 : due;
                now = now || fits(page * 4096, true);
                ever = ever || fits(page * 4096, false);
            }
            ASSERT_EQ(status, now ? MXU_OK : ever ? MXU_EBUSY : MXU_ENOHW) << round;
            if (now) {
                ASSERT_EQ(address, due);
                mxu_tlb_take(&tlb, &share, address, pages);
                taken.emplace_back(address, pages);
            }
        }
        for (const auto &[address, pages] : taken) {
            mxu_tlb_release(&tlb, &share, address, pages);
        }
        ASSERT_TRUE(std::all_of(std::begin(share.pages), std::end(share.pages),
                                [](auto count) { return count == 0; }));
    }
}

TEST(MxuTlb, X5_WhatNeedNotStayOnlyHasToLieInOwnSets)
{
    const mxu_tlb tlb{64, 2};
    mxu_tlb_share share{};
    std::uint32_t address = 0;

    share.sets = 0xF0;
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 4, false, 0, &address), MXU_OK);
    EXPECT_EQ(address, 0x4000u);
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 5, false, 0, &address), MXU_ENOHW)
        << "four sets are next to each other";
    share.sets = ~std::uint64_t{0};
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 1000, false, 0, &address), MXU_OK);
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 1000, true, 0, &address), MXU_ENOHW) << "128 entries";
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 128, true, 0, &address), MXU_OK);
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 2, true, 0xFFFFF000, &address), MXU_ENOMEM);
    EXPECT_EQ(mxu_tlb_find(&tlb, &share, 0, true, 0, &address), MXU_EINVAL);
}

} // namespace
} // namespace mxu_tlb_test
