// SPDX-License-Identifier: Apache-2.0
// Whatever a device tree contains, the reader stays within the blob and terminates. The address sanitizer
// checks this; each blob is a heap block of exactly its size.
#include "board_tree.h"
#include "core/devicetree.h"
#include "sample_manifest.h"

#include <gtest/gtest.h>

#include <random>

namespace devicetree_damage_test {
namespace {

enum {
    TOTAL_BYTES = 4,
    STRUCTURE = 8,
    STRINGS = 12,
    RESERVATIONS = 16,
    VERSION = 20,
    COMPATIBLE = 24,
    STRINGS_BYTES = 32,
    STRUCTURE_BYTES = 36
};

const BoardTree board{.reservations = {{0x1000, 0x2000}},
                      .reserved = {{"keep", {0x70000000, 0x1000}, {"no-map"}, "", ""}}};

void put_word(std::vector<uint8_t> &bytes, size_t at, uint32_t word)
{
    for (size_t i = 0; i < 4; i++)
        bytes[at + i] = static_cast<uint8_t>(word >> (24 - 8 * i));
}

// All reads of a tree that the boot code makes. Returns whether it was opened.
bool use(const std::vector<uint8_t> &bytes)
{
    static const auto manifest = make_sample_manifest();
    ExactBytes blob(bytes);
    devicetree tree{};

    if (!devicetree_open(&tree, blob.data(), blob.size()))
        return false;
    EXPECT_LE(tree.used_bytes, blob.size());
    manifest_check_board(&manifest->header, &tree, blob.address());
    return true;
}

std::vector<uint8_t> with_word(size_t at, uint32_t word)
{
    std::vector<uint8_t> bytes = board.make();
    put_word(bytes, at, word);
    return bytes;
}

TEST(DamagedDeviceTree, EveryTruncationIsRefused)
{
    const std::vector<uint8_t> whole = board.make();
    ASSERT_TRUE(use(whole));
    for (size_t size = DEVICETREE_HEADER_BYTES; size < whole.size(); size++)
        EXPECT_FALSE(use({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
}

TEST(DamagedDeviceTree, AHeaderThatContradictsItselfIsRefused)
{
    EXPECT_FALSE(use(with_word(0, 0xD00DFEEE))) << "magic";
    EXPECT_FALSE(use(with_word(VERSION, 16))) << "version without the size of the structure block";
    EXPECT_FALSE(use(with_word(COMPATIBLE, 18))) << "of a later format";
    EXPECT_FALSE(use(with_word(TOTAL_BYTES, 0))) << "empty";
    EXPECT_FALSE(use(with_word(TOTAL_BYTES, UINT32_MAX))) << "larger than any tree may be";
    for (size_t field : {STRUCTURE, STRINGS, RESERVATIONS, STRINGS_BYTES, STRUCTURE_BYTES}) {
        for (uint32_t value : {0x7FFFFFFCu, 0xFFFFFFFCu, UINT32_MAX})
            EXPECT_FALSE(use(with_word(field, value))) << field << ": " << value;
    }
    EXPECT_FALSE(use(with_word(STRUCTURE, 0))) << "structure over the header";
    EXPECT_FALSE(use(with_word(RESERVATIONS, 8))) << "reservations over the header";
}

TEST(DamagedDeviceTree, EndlessNestingEnds)
{
    std::vector<uint8_t> bytes = board.make();
    size_t structure = static_cast<size_t>(bytes[STRUCTURE + 2]) << 8 | bytes[STRUCTURE + 3];
    size_t end =
        structure + (static_cast<size_t>(bytes[STRUCTURE_BYTES + 2]) << 8 | bytes[STRUCTURE_BYTES + 3]);
    devicetree tree{};
    devicetree_walk walk{};
    devicetree_node node{};
    uint32_t nodes = 0;

    for (size_t at = structure; at < end; at += 4)
        put_word(bytes, at,
                 (at - structure) / 4 % 2 == 0 ? 1 : 0); // a node without a name, in a node, in a node
    ExactBytes blob(bytes);
    ASSERT_TRUE(devicetree_open(&tree, blob.data(), blob.size()));
    while (devicetree_next(&tree, &walk, &node) == DEVICETREE_NODE)
        nodes++;
    EXPECT_EQ(nodes, DEVICETREE_MAX_DEPTH);
    EXPECT_EQ(devicetree_next(&tree, &walk, &node), DEVICETREE_DAMAGED);
}

TEST(DamagedDeviceTree, EveryDamagedWordIsSurvived)
{
    const std::vector<uint8_t> whole = board.make();
    for (size_t at = 0; at + 4 <= whole.size(); at += 4) {
        for (uint32_t word : {0u, 1u, 2u, 3u, 4u, 9u, 0x7FFFFFFFu, 0xFFFFFFF8u, UINT32_MAX})
            (void)use(with_word(at, word));
    }
}

TEST(DamagedDeviceTree, RandomDamageIsSurvived)
{
    std::mt19937 random(1);
    const std::vector<uint8_t> whole = board.make();
    for (int round = 0; round < 20000; round++) {
        std::vector<uint8_t> bytes = whole;
        for (uint32_t count = random() % 8 + 1; count > 0; count--)
            bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
        (void)use(bytes);
    }
}

} // namespace
} // namespace devicetree_damage_test
