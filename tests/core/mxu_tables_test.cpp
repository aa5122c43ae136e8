// SPDX-License-Identifier: Apache-2.0
// Table nodes that ranges need (X5), compared with a table that is filled page by page.
#include "core/mxu_tables.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace mxu_tables_test {
namespace {

using bulkhead_test::Random;

// A span is mapped by the largest blocks that fit into it; returns the nodes on the path to each of them.
mxu_table_need by_filling(const mxu_table_shape &shape, const std::vector<mxu_span> &spans)
{
    std::array<std::set<std::uint64_t>, MXU_TABLE_MOST_LEVELS> nodes;
    for (const mxu_span &span : spans) {
        for (std::uint64_t at = span.first; at <= span.last;) {
            std::uint32_t level = 0;
            const auto fits = [&] {
                const std::uint64_t size = std::uint64_t{1} << shape.level[level].shift;
                const bool aligned = span.most_shift == 0 || shape.level[level].shift <= span.most_shift;
                return shape.level[level].blocks != 0 && aligned && at % size == 0 &&
                       span.last - at >= size - 1;
            };
            nodes[0].insert(0);
            while (!fits()) {
                nodes[level + 1].insert(at >> shape.level[level].shift);
                ++level;
            }
            at += std::uint64_t{1} << shape.level[level].shift;
        }
    }
    mxu_table_need need{};
    for (std::uint32_t level = 0; level < shape.levels; ++level) {
        need.nodes[level] = static_cast<std::uint32_t>(nodes[level].size());
        need.bytes += (nodes[level].size() << shape.level[level].index_bits) * shape.level[level].entry_bytes;
    }
    return need;
}

std::vector<mxu_span> random_spans(Random &random, std::uint32_t bits)
{
    std::vector<mxu_span> spans;
    std::uint64_t at = 0;
    for (std::uint32_t i = random() % 6; i > 0; --i) {
        const std::uint64_t gap = std::uint64_t{random() % 3 == 0 ? 0 : random() % 600}
                                  << (random() % 3 == 0 ? 21 : 12);
        const std::uint64_t size = std::uint64_t{1 + random() % 700} << (random() % 4 == 0 ? 20 : 12);
        at += gap;
        if (at + size > std::uint64_t{1} << bits) {
            break;
        }
        spans.push_back({at, at + size - 1, std::array{0U, 12U, 21U, 30U}[random() % 4], 0});
        at += size;
    }
    return spans;
}

TEST(MxuTables, X5_NodesAreThoseOfATableThatIsFilled)
{
    Random random{7};
    const std::array shapes = {mxu_armv7a_tables, mxu_aarch64_tables(1, 9, true),
                               mxu_aarch64_tables(1, 10, false), mxu_aarch64_tables(2, 13, true),
                               mxu_aarch64_tables(0, 9, true)};
    for (int i = 0; i < 300; ++i) {
        const mxu_table_shape &shape = shapes[random() % shapes.size()];
        const std::vector<mxu_span> spans = random_spans(random, 32);
        const mxu_table_need due = by_filling(shape, spans);
        mxu_table_need need{};
        ASSERT_TRUE(mxu_tables_needed(&shape, spans.data(), static_cast<std::uint32_t>(spans.size()), &need));
        for (std::uint32_t level = 0; level < shape.levels; ++level) {
            ASSERT_EQ(need.nodes[level], due.nodes[level]) << i << " level " << level;
        }
        ASSERT_EQ(need.bytes, due.bytes);
    }
}

TEST(MxuTables, X5_OnePageOfAnArmv7TableNeedsItsRootAndOneKibibyte)
{
    const mxu_span page{0x10000000, 0x10000FFF, 0, 0};
    mxu_table_need need{};
    ASSERT_TRUE(mxu_tables_needed(&mxu_armv7a_tables, &page, 1, &need));
    EXPECT_EQ(need.bytes, 16384u + 1024u);
    EXPECT_EQ(mxu_table_walk(&mxu_armv7a_tables), 2u);
}

TEST(MxuTables, X5_SpansThatAreNotSoundAreRefused)
{
    mxu_table_need need{};
    const auto refused = [&](std::vector<mxu_span> spans) {
        return !mxu_tables_needed(&mxu_armv7a_tables, spans.data(), static_cast<std::uint32_t>(spans.size()),
                                  &need);
    };
    EXPECT_TRUE(refused({{0x1000, 0xFFF, 0, 0}}));
    EXPECT_TRUE(refused({{0x800, 0xFFF, 0, 0}}));
    EXPECT_TRUE(refused({{0, 0x7FF, 0, 0}}));
    EXPECT_TRUE(refused({{0, 0x100000FFF, 0, 0}}));
    EXPECT_TRUE(refused({{0x2000, 0x2FFF, 0, 0}, {0x1000, 0x1FFF, 0, 0}}));
    EXPECT_TRUE(refused({{0x1000, 0x2FFF, 0, 0}, {0x2000, 0x3FFF, 0, 0}}));
    EXPECT_FALSE(refused({{0, 0xFFFFFFFF, 0, 0}}));
    EXPECT_EQ(need.bytes, 16384u) << "4096 sections";
}

// Colored memory is mapped by pages, whatever its size; memory beside it may be mapped by blocks.
TEST(MxuTables, X5_MemoryThatIsNotAlignedForBlocksNeedsNodesBelow)
{
    const mxu_table_shape shape = mxu_aarch64_tables(1, 9, true);
    const std::array<mxu_span, 2> spans = {
        {{0x40000000, 0x40FFFFFF, 12, 0}, {0x80000000, 0xBFFFFFFF, 21, 0}}};
    mxu_table_need need{};
    ASSERT_TRUE(mxu_tables_needed(&shape, spans.data(), spans.size(), &need));
    EXPECT_EQ(need.nodes[1], 2u) << "a level-2 table for each GiB: blocks of 1 GiB are not aligned";
    EXPECT_EQ(need.nodes[2], 8u) << "16 MiB by pages";
}

} // namespace
} // namespace mxu_tables_test
