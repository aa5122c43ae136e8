// SPDX-License-Identifier: Apache-2.0
//
// Whatever a device tree contains, the reader stays within the blob and terminates. The address sanitizer
// checks this; each blob is a heap block of exactly its size.
extern "C" {
#include "guests/runtime/devicetree.h"
}

#include <gtest/gtest.h>

#include <random>

#include "tree.h"

namespace devicetree_damage_test {
namespace {

// All reads of a tree that a guest makes. Returns whether it was opened.
bool use(const std::vector<uint8_t> &bytes)
{
    tree::Blob blob(bytes);
    struct dt fdt;
    dt_node node;
    dt_value value;
    dt_range range;
    uint64_t number;

    if (!dt_open(&fdt, blob.data(), blob.size()))
        return false;
    for (const char *path :
         {"/", "/bulkhead", "/soc/serial", "/soc/bulkhead", "/cpus/cpu@1", "/none/at/all"}) {
        if (!dt_find_path(&fdt, path, &node))
            continue;
        for (const char *name : {"reg", "compatible", "period_us", "address", "empty"}) {
            if (dt_property(&fdt, &node, name, &value)) {
                (void)dt_number(&value, &number);
                (void)dt_has_string(&value, "arm,primecell");
            }
        }
        for (uint32_t i : {0u, 1u, 0x40000000u, UINT32_MAX})
            (void)dt_reg(&fdt, &node, i, &range);
    }
    for (unsigned n = 0; n < 4 && dt_find_type(&fdt, "cpu", n, &node); n++)
        (void)dt_reg(&fdt, &node, 0, &range);
    (void)dt_find_compatible(&fdt, "arm,primecell", 0, &node);
    return true;
}

void put_word(std::vector<uint8_t> &bytes, size_t at, uint32_t word)
{
    for (size_t i = 0; i < 4; i++)
        bytes[at + i] = static_cast<uint8_t>(word >> (24 - 8 * i));
}

TEST(DamagedTree, EveryTruncationIsRefused)
{
    const std::vector<uint8_t> whole = tree::guest();
    ASSERT_TRUE(use(whole));
    for (size_t size = 0; size < whole.size(); size++)
        EXPECT_FALSE(use({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
}

TEST(DamagedTree, TruncationThatTheHeaderHidesStaysInside)
{
    const std::vector<uint8_t> whole = tree::guest();
    constexpr size_t total_bytes_at = 4;
    for (size_t size = 40; size < whole.size(); size++) {
        std::vector<uint8_t> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        put_word(bytes, total_bytes_at, static_cast<uint32_t>(size));
        EXPECT_FALSE(use(bytes)) << size; // the blocks do not fit any more
    }
}

TEST(DamagedTree, WildWordsAnywhereStayInside)
{
    const std::vector<uint8_t> whole = tree::guest();
    unsigned opened = 0;
    for (size_t at = 0; at + 4 <= whole.size(); at += 4) {
        for (uint32_t wild : {0u, 1u, 2u, 3u, 4u, 9u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFF0u, 0xFFFFFFFFu}) {
            std::vector<uint8_t> bytes = whole;
            put_word(bytes, at, wild);
            opened += use(bytes);
        }
    }
    EXPECT_GT(opened, whole.size()); // most got past the header
}

TEST(DamagedTree, RandomBytesStayInside)
{
    const std::vector<uint8_t> whole = tree::guest();
    std::mt19937 random(1);
    unsigned opened = 0;
    for (int round = 0; round < 5000; round++) {
        std::vector<uint8_t> bytes = whole;
        for (int i = 0; i < 8; i++)
            bytes[40 + random() % (bytes.size() - 40)] = static_cast<uint8_t>(random());
        opened += use(bytes);
    }
    EXPECT_EQ(opened, 5000u);
}

TEST(DamagedTree, OtherVersionsAndSizesAreRefused)
{
    const std::vector<uint8_t> whole = tree::guest();
    struct {
        size_t at;
        uint32_t word;
    } const headers[] = {
        {0, 0xD00DFEEE},       // magic
        {4, DT_MAX_BYTES + 1}, // total size
        {8, 39},               // structure: unaligned and in the header
        {12, 0xFFFFFFFF},      // strings
        {20, 16},
        {24, 18}, // versions
        {32, 0xFFFFFFFF},
        {36, 0xFFFFFFFF}, // block sizes
    };
    for (const auto &header : headers) {
        std::vector<uint8_t> bytes = whole;
        put_word(bytes, header.at, header.word);
        EXPECT_FALSE(use(bytes)) << "offset " << header.at;
    }
}

TEST(DamagedTree, DeepNestingEndsTheSearch)
{
    std::vector<uint8_t> bytes(16384);
    void *fdt = bytes.data();
    tree::check(fdt_create(fdt, static_cast<int>(bytes.size())));
    tree::check(fdt_finish_reservemap(fdt));
    tree::check(fdt_begin_node(fdt, ""));
    for (int depth = 0; depth < 200; depth++)
        tree::check(fdt_begin_node(fdt, "n"));
    for (int depth = 0; depth < 200; depth++)
        tree::check(fdt_end_node(fdt));
    tree::check(fdt_begin_node(fdt, "bulkhead"));
    tree::check(fdt_end_node(fdt));
    tree::check(fdt_end_node(fdt));
    tree::check(fdt_finish(fdt));
    bytes.resize(fdt_totalsize(fdt));
    tree::Blob blob(bytes);
    struct dt reader;
    dt_node node;
    ASSERT_TRUE(dt_open(&reader, blob.data(), blob.size()));
    EXPECT_TRUE(dt_find_path(&reader, "/n/n/n", &node));
    EXPECT_FALSE(dt_find_path(&reader, "/bulkhead", &node));
}

} // namespace
} // namespace devicetree_damage_test
