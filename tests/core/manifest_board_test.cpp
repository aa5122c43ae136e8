// SPDX-License-Identifier: Apache-2.0
// A manifest is compared with the board's device tree: memory and cores that the board does not have, or that
// its firmware reserves, are refused before anything is overwritten. The sample manifest's board has RAM from
// 0x40000000 to 0x80000000 with colors in bits 13 - 15; the pool is color 7 from 0x4800E000, the domains'
// segments are colors 0 - 2 and 3 - 5 from 0x48000000 and 0x50006000.
#include "board_tree.h"
#include "core/devicetree.h"
#include "sample_manifest.h"

#include <gtest/gtest.h>

namespace manifest_board_test {
namespace {

class Board : public testing::Test {
protected:
    manifest_verdict check()
    {
        blob = std::make_unique<ExactBytes>(board.make());
        return check_at(blob->address());
    }

    manifest_verdict check_at(uint64_t tree_pa)
    {
        devicetree tree{};
        EXPECT_TRUE(devicetree_open(&tree, blob->data(), blob->size()));
        return manifest_check_board(&sample->header, &tree, tree_pa);
    }

    template <typename Field> uint32_t offset_of(const Field &field)
    {
        auto place = reinterpret_cast<const char *>(&field) - reinterpret_cast<const char *>(sample.get());
        return static_cast<uint32_t>(place);
    }

    void expect(bh_manifest_error error, uint32_t offset)
    {
        manifest_verdict verdict = check();
        EXPECT_EQ(verdict.error, error);
        EXPECT_EQ(verdict.offset, offset);
    }

    void expect_accepted() { expect(BH_MANIFEST_ERROR_NONE, 0); }

    std::unique_ptr<SampleManifest> sample = make_sample_manifest();
    BoardTree board;
    std::unique_ptr<ExactBytes> blob;
};

TEST_F(Board, ThatFitsIsAccepted)
{
    expect_accepted();
}

TEST_F(Board, MayHaveItsMemoryInTouchingPieces)
{
    board.memory = {{{0x50000000, 0x30000000}}, {{0x40000000, 0x0F000000}, {0x4F000000, 0x01000000}}};
    expect_accepted();
}

TEST_F(Board, WithoutTheMemoryOfThePoolIsRefused)
{
    board.memory = {{{0x40000000, 0x08000000}, {0x50000000, 0x30000000}}};
    expect(BH_MANIFEST_ERROR_BOARD_MEMORY, offset_of(sample->header.hypervisor.pool_pa));
}

TEST_F(Board, WithoutTheMemoryOfASegmentIsRefused)
{
    board.memory = {{{0x40000000, 0x10000000}}};
    expect(BH_MANIFEST_ERROR_BOARD_MEMORY, offset_of(sample->segments[2].pa));
}

TEST_F(Board, WithoutAnyMemoryIsRefused)
{
    board.memory = {};
    expect(BH_MANIFEST_ERROR_BOARD_MEMORY, offset_of(sample->header.hypervisor.pool_pa));
}

TEST_F(Board, WhoseMemoryIsNotEnabledIsRefused)
{
    board.memory_status = "disabled";
    expect(BH_MANIFEST_ERROR_BOARD_MEMORY, offset_of(sample->header.hypervisor.pool_pa));
    board.memory_status = "okay";
    expect_accepted();
}

TEST_F(Board, MayHaveAHoleThatIsOfNobodysColors)
{
    board.memory = {{{0x40000000, 0x0800C000}, {0x4800E000, 0x37FF2000}}}; // no color 6 at 0x4800C000
    expect_accepted();
    board.memory = {{{0x40000000, 0x08010000}, {0x48012000, 0x37FEE000}}}; // no color 0 at 0x48010000
    expect(BH_MANIFEST_ERROR_BOARD_MEMORY, offset_of(sample->segments[0].pa));
}

TEST_F(Board, MayNotLackAPartOfAGranule)
{
    board.memory = {{{0x40000000, 0x08000800}, {0x48001000, 0x37FFF000}}};
    expect(BH_MANIFEST_ERROR_BOARD_MEMORY, offset_of(sample->segments[0].pa));
    board.memory = {{{0x40000000, 0x08000800}, {0x48000800, 0x37FFF800}}};
    expect_accepted();
}

TEST_F(Board, MemoryIsUncoloredWithoutColorBits)
{
    sample->header.platform.color_bits = 0;
    expect_accepted();
    board.memory = {{{0x40000000, 0x0801000}, {0x48012000, 0x37FEE000}}};
    EXPECT_EQ(check().error, BH_MANIFEST_ERROR_BOARD_MEMORY);
}

TEST_F(Board, WhoseFirmwareKeepsAFrameIsRefused)
{
    board.reserved = {{"firmware@48000000", {0x48000000, 0x1000}, {"no-map"}, "", ""}};
    expect(BH_MANIFEST_ERROR_BOARD_RESERVED, offset_of(sample->segments[0].pa));
    board.reserved[0].range = {0x4800FFFF, 1};
    expect(BH_MANIFEST_ERROR_BOARD_RESERVED, offset_of(sample->header.hypervisor.pool_pa));
    board.reserved[0].range = {0x50006000, 0x100};
    board.reserved[0].flags = {};
    expect(BH_MANIFEST_ERROR_BOARD_RESERVED, offset_of(sample->segments[2].pa));
}

TEST_F(Board, MayKeepMemoryThatNobodyHas)
{
    board.reserved = {{"firmware@40000000", {0x40000000, 0x8000000}, {"no-map"}, "", ""},
                      {"color6@4800C000", {0x4800C000, 0x2000}, {"no-map"}, "", ""},
                      {"empty@48000000", {0x48000000, 0}, {"no-map"}, "", ""}};
    board.reservations = {{0x70000000, 0x1000}};
    expect_accepted();
}

TEST_F(Board, MayReserveMemoryForDriversOfAnOperatingSystem)
{
    board.reserved = {{"pool@48000000", {0x48000000, 0x1000}, {}, "shared-dma-pool", ""},
                      {"cma@48000000", {0x48000000, 0x1000}, {"reusable"}, "", ""},
                      {"unused@48000000", {0x48000000, 0x1000}, {"no-map"}, "", "disabled"}};
    expect_accepted();
}

TEST_F(Board, WhoseHeaderReservesAFrameIsRefused)
{
    board.reservations = {{0x70000000, 0x1000}, {0x4800E000, 0x10}};
    expect(BH_MANIFEST_ERROR_BOARD_RESERVED, offset_of(sample->header.hypervisor.pool_pa));
}

TEST_F(Board, TheTreeItselfMayLieOnFramesAndBeReserved)
{
    board.reservations = {{0x48000000, 0x1000}};
    blob = std::make_unique<ExactBytes>(board.make());
    EXPECT_EQ(check_at(0x48000000).error, BH_MANIFEST_ERROR_NONE);
    EXPECT_EQ(check_at(0x48001000).error, BH_MANIFEST_ERROR_BOARD_RESERVED);
}

TEST_F(Board, WithoutACoreOfTheManifestIsRefused)
{
    board.cpus = {0, 1, 3};
    expect(BH_MANIFEST_ERROR_BOARD_CORE, offset_of(sample->cpus[2]));
    board.cpus = {3, 2, 1, 0, 4, 5};
    expect_accepted();
    board.cpu_status = "fail";
    expect(BH_MANIFEST_ERROR_BOARD_CORE, offset_of(sample->cpus[0]));
}

TEST_F(Board, AffinitiesMayHaveTwoCells)
{
    board.cpu_cells = 2;
    sample->cpus[2].mpidr = 0x500000102;
    expect(BH_MANIFEST_ERROR_BOARD_CORE, offset_of(sample->cpus[2]));
    board.cpus = {0, 1, 0x500000102, 3};
    expect_accepted();
}

TEST_F(Board, WhoseFirmwareIsCalledInAnotherWayIsRefused)
{
    const uint32_t place = offset_of(sample->header.platform.psci_method);

    board.psci_method = "hvc";
    expect(BH_MANIFEST_ERROR_BOARD_PSCI, place);
    board.psci_method = "";
    expect(BH_MANIFEST_ERROR_BOARD_PSCI, place);
    sample->header.platform.psci_method = BH_PSCI_METHOD_NONE;
    expect_accepted();
}

TEST_F(Board, WhoseFirmwareIsOlderThanPsci02IsRefused)
{
    board.psci_compatible = "arm,psci"; // its function numbers are given in the tree
    expect(BH_MANIFEST_ERROR_BOARD_PSCI, offset_of(sample->header.platform.psci_method));
    board.psci_compatible = "arm,psci-0.2";
    expect_accepted();
}

TEST_F(Board, WithMorePiecesOfMemoryThanCanBeHeldIsRefused)
{
    board.memory = {std::vector<BoardTree::Range>(17, {0x40000000, 0x40000000})};
    expect(BH_MANIFEST_ERROR_DEVICE_TREE, 0);
    board.memory[0].pop_back();
    expect_accepted();
}

TEST_F(Board, WithAddressesThatNoBusHasIsRefused)
{
    board.memory = {{{0x40000000, UINT64_MAX}}};
    expect(BH_MANIFEST_ERROR_DEVICE_TREE, 0);
    board = {};
    board.reserved = {{"wraps", {0x48000000, UINT64_MAX - 0x47FFFFFF}, {"no-map"}, "", ""}};
    expect(BH_MANIFEST_ERROR_DEVICE_TREE, 0);
}

} // namespace
} // namespace manifest_board_test
