// SPDX-License-Identifier: Apache-2.0
// Typed frames (X3, X6): kinds change through free only, a failed call changes nothing, and the search finds
// the lowest run.
#include "core/mxu_frames.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <optional>

namespace mxu_frames_test {
namespace {

using bulkhead_test::Random;

struct Table {
    std::vector<mxu_frame> array;
    mxu_frames frames{};

    Table(std::uint32_t count, std::uint32_t first, std::uint32_t bits) : array(count)
    {
        EXPECT_TRUE(mxu_frames_init(&frames, array.data(), count, first, bits));
    }
};

// As the header defines it, by trying each frame.
std::optional<std::uint32_t> lowest(const mxu_frames &frames, std::uint32_t count, std::uint32_t align,
                                    std::uint32_t block)
{
    for (std::uint32_t at = 0; at + count <= frames.count; ++at) {
        const std::uint64_t first = frames.first + (std::uint64_t{at} << frames.frame_bits);
        const std::uint64_t last = first + (std::uint64_t{count} << frames.frame_bits) - 1;
        bool fits = first % (std::uint64_t{1} << align) == 0 && first >> block == last >> block;
        for (std::uint32_t i = 0; i < count; ++i) {
            fits = fits && frames.frame[at + i].kind == MXU_FRAME_FREE;
        }
        if (fits) {
            return at;
        }
    }
    return std::nullopt;
}

TEST(MxuFrames, X3_AFrameIsNeverOfTwoKinds)
{
    Table table(8, 0x20000000, 12);

    EXPECT_EQ(mxu_frames_claim(&table.frames, {2, 3}, MXU_FRAME_KERNEL), MXU_OK);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {4, 2}, MXU_FRAME_USER), MXU_EEXIST);
    EXPECT_EQ(table.array[5].kind, MXU_FRAME_FREE) << "nothing was changed";
    EXPECT_EQ(mxu_frames_share(&table.frames, {2, 3}), MXU_EINVAL) << "the kernel's are not shared";
    EXPECT_EQ(mxu_frames_release(&table.frames, {2, 3}), MXU_OK);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {4, 2}, MXU_FRAME_USER), MXU_OK);
    EXPECT_EQ(mxu_frames_share(&table.frames, {4, 2}), MXU_OK);
    EXPECT_EQ(mxu_frames_release(&table.frames, {4, 2}), MXU_OK);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {4, 2}, MXU_FRAME_KERNEL), MXU_EEXIST) << "one holder is left";
    EXPECT_EQ(mxu_frames_release(&table.frames, {4, 2}), MXU_OK);
    EXPECT_EQ(mxu_frames_release(&table.frames, {4, 2}), MXU_ENOENT);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {4, 2}, MXU_FRAME_KERNEL), MXU_OK);
}

TEST(MxuFrames, X3_WhatIsNoRunOfTheTableIsRefused)
{
    Table table(8, 0xFFFF8000, 12);
    mxu_run run{};

    EXPECT_EQ(mxu_frames_claim(&table.frames, {7, 2}, MXU_FRAME_USER), MXU_EINVAL);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {0xFFFFFFFF, 2}, MXU_FRAME_USER), MXU_EINVAL);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {0, 0}, MXU_FRAME_USER), MXU_EINVAL);
    EXPECT_EQ(mxu_frames_claim(&table.frames, {0, 1}, MXU_FRAME_FREE), MXU_EINVAL);
    EXPECT_EQ(mxu_frames_release(&table.frames, {8, 1}), MXU_EINVAL);
    EXPECT_FALSE(mxu_frames_of(&table.frames, 0xFFFF8800, 0x1000, &run)) << "not aligned";
    EXPECT_FALSE(mxu_frames_of(&table.frames, 0xFFFF7000, 0x1000, &run)) << "before them";
    EXPECT_FALSE(mxu_frames_of(&table.frames, 0xFFFFF000, 0x2000, &run)) << "behind them";
    EXPECT_FALSE(mxu_frames_of(&table.frames, 0xFFFF8000, 0, &run));
    EXPECT_TRUE(mxu_frames_of(&table.frames, 0xFFFFF000, 0x1000, &run));
    EXPECT_EQ(run.at, 7u);
    EXPECT_EQ(mxu_frames_find(&table.frames, 3, 12, 13, &run), MXU_EINVAL) << "larger than its block";
    EXPECT_EQ(mxu_frames_find(&table.frames, 9, 12, 32, &run), MXU_ENOMEM);
    mxu_frame none{};
    mxu_frames frames{};
    EXPECT_FALSE(mxu_frames_init(&frames, &none, 2, 0xFFFFF000, 12)) << "beyond the address space";
    EXPECT_FALSE(mxu_frames_init(&frames, &none, 1, 0x800, 12));
    EXPECT_FALSE(mxu_frames_init(&frames, &none, 1, 0, 4));
}

TEST(MxuFrames, X3_HoldersAreCountedUpToTheirLimit)
{
    Table table(2, 0, 5);

    ASSERT_EQ(mxu_frames_claim(&table.frames, {1, 1}, MXU_FRAME_USER), MXU_OK);
    for (unsigned i = 1; i < MXU_FRAME_MOST_HOLDERS; ++i) {
        ASSERT_EQ(mxu_frames_share(&table.frames, {1, 1}), MXU_OK);
    }
    EXPECT_EQ(mxu_frames_share(&table.frames, {1, 1}), MXU_EBUSY);
}

TEST(MxuFrames, X3_TheSearchFindsTheLowestRun)
{
    Random random{4};
    for (int round = 0; round < 400; ++round) {
        Table table(64, (random() % 64) << 12, 12);
        for (int i = 0; i < 64; ++i) {
            if (random() % 4 == 0) {
                (void)mxu_frames_claim(&table.frames, {random() % 64, 1}, MXU_FRAME_USER);
            }
        }
        for (int i = 0; i < 16; ++i) {
            const std::uint32_t count = 1 + random() % 6;
            const std::uint32_t align = random() % 2 == 0 ? 5 : 12 + random() % 4;
            const std::uint32_t block = random() % 2 == 0 ? 32 : 15 + random() % 3;
            mxu_run run{};
            const auto due = lowest(table.frames, count, align, block);
            const mxu_status status = mxu_frames_find(&table.frames, count, align, block, &run);
            ASSERT_EQ(status, due ? MXU_OK : MXU_ENOMEM) << round;
            if (due) {
                ASSERT_EQ(run.at, *due) << round;
                ASSERT_EQ(run.count, count);
            }
        }
    }
}

} // namespace
} // namespace mxu_frames_test
