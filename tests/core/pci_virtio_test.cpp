// SPDX-License-Identifier: Apache-2.0
// What a guest may see of a virtio function's capabilities, and which of them are not possible (D3).
#include <gtest/gtest.h>
#include <random>

extern "C" {
#include "core/pci_virtio.h"
}

namespace pci_virtio_test {
namespace {

constexpr uint32_t none = PCI_VIRTIO_STRUCTURES;

// A disk: BAR 1 has 4 KiB; BAR 4 has 16 KiB and 64 bits, so register 5 has no BAR of its own.
manifest_function disk()
{
    manifest_function result{};
    result.id = 0x10421AF4;
    result.bar_bytes[1] = 0x1000;
    result.bar_bytes[4] = 0x4000;
    result.bar_kinds = 0xC0000;
    return result;
}

uint32_t header(uint32_t type, uint32_t bytes)
{
    return 0x09u | bytes << 16 | type << 24;
}

pci_virtio_place place(const manifest_function &function, uint32_t bar, uint32_t offset, uint32_t bytes)
{
    const uint32_t words[] = {0, bar, offset, bytes};
    return pci_virtio_locate(&function, words);
}

TEST(PciVirtio, D3_AGuestSeesFourTypesOfStructures)
{
    const manifest_function function = disk();
    EXPECT_EQ(pci_virtio_index(&function, 0x40, header(1, 16)), 0u);
    EXPECT_EQ(pci_virtio_index(&function, 0x40, header(2, 20)), 1u);
    EXPECT_EQ(pci_virtio_index(&function, 0x40, header(3, 16)), 2u);
    EXPECT_EQ(pci_virtio_index(&function, 0x40, header(4, 255)), 3u) << "longer than needed";
    for (const uint32_t type : {0u, 5u, 8u, 9u, 255u}) {
        EXPECT_EQ(pci_virtio_index(&function, 0x40, header(type, 32)), none) << type;
    }
    EXPECT_EQ(pci_virtio_header(1), header(2, 20));
}

TEST(PciVirtio, D3_OnlyAVirtioDevicesCapabilitiesAreUnderstood)
{
    manifest_function function = disk();
    for (const uint32_t id : {0x10001AF4u, 0x107F1AF4u}) {
        function.id = id;
        EXPECT_EQ(pci_virtio_index(&function, 0x40, header(1, 16)), 0u);
    }
    for (const uint32_t id : {0x0FFF1AF4u, 0x10801AF4u, 0x10421B36u}) {
        function.id = id;
        EXPECT_EQ(pci_virtio_index(&function, 0x40, header(1, 16)), none);
    }
    function = disk();
    EXPECT_EQ(pci_virtio_index(&function, 0x40, (header(1, 16) & ~0xFFu) | 0x05), none)
        << "not vendor-specific";
}

TEST(PciVirtio, D3_ACapabilityIsWholeAndEndsWhereExtendedOnesBegin)
{
    const manifest_function function = disk();
    EXPECT_EQ(pci_virtio_index(&function, 0x40, header(1, 15)), none);
    EXPECT_EQ(pci_virtio_index(&function, 0x40, header(2, 19)), none);
    EXPECT_EQ(pci_virtio_index(&function, 0xF0, header(1, 16)), 0u);
    EXPECT_EQ(pci_virtio_index(&function, 0xF4, header(1, 16)), none);
    EXPECT_EQ(pci_virtio_index(&function, 0xEC, header(2, 20)), 1u);
    EXPECT_EQ(pci_virtio_index(&function, 0xF0, header(2, 20)), none);
}

TEST(PciVirtio, D3_AStructureIsWithinABarOfTheFunction)
{
    const manifest_function function = disk();
    EXPECT_EQ(place(function, 4, 0x3000, 0x1000), PCI_VIRTIO_PLACED);
    EXPECT_EQ(place(function, 4, 0x3001, 0x1000), PCI_VIRTIO_OUTSIDE);
    EXPECT_EQ(place(function, 1, 0, 0x1000), PCI_VIRTIO_PLACED);
    EXPECT_EQ(place(function, 1, 0xFFFFFFFF, 1), PCI_VIRTIO_OUTSIDE) << "the sum has 33 bits";
    EXPECT_EQ(place(function, 1, 0xFFFFFFFF, 0xFFFFFFFF), PCI_VIRTIO_OUTSIDE);
    EXPECT_EQ(place(function, 1, 0, 0), PCI_VIRTIO_OUTSIDE) << "it is empty";
    EXPECT_EQ(place(function, 0, 0, 4), PCI_VIRTIO_IGNORED) << "no memory, perhaps I/O addresses";
    EXPECT_EQ(place(function, 5, 0, 4), PCI_VIRTIO_IGNORED) << "the upper half of a BAR";
    EXPECT_EQ(place(function, 6, 0, 4), PCI_VIRTIO_IGNORED) << "reserved";
    EXPECT_EQ(place(function, 0xFF, 0, 4), PCI_VIRTIO_IGNORED);
    EXPECT_EQ(place(function, 0xABCD04, 0, 4), PCI_VIRTIO_PLACED) << "the BAR is one byte of its word";
}

// Whatever a device says: what a guest sees is whole, and ends within a BAR.
TEST(PciVirtio, D3_WhatIsPlacedIsWithinABar)
{
    const manifest_function function = disk();
    std::mt19937 engine(5);
    unsigned placed = 0;
    for (int i = 0; i < 200000; i++) {
        const uint32_t words[] = {0, static_cast<uint32_t>(engine()) % 8,
                                  static_cast<uint32_t>(engine()) >> engine() % 32,
                                  static_cast<uint32_t>(engine()) >> engine() % 32};
        if (pci_virtio_locate(&function, words) == PCI_VIRTIO_PLACED) {
            placed++;
            ASSERT_LE(uint64_t{words[2]} + words[3], function.bar_bytes[words[1]]);
            ASSERT_GT(words[3], 0u);
        }
    }
    EXPECT_GT(placed, 1000u);
}

} // namespace
} // namespace pci_virtio_test
