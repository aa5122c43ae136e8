// SPDX-License-Identifier: Apache-2.0
// The PCI transport of a virtio device (D3): configuration space, and that its registers do what those of the
// MMIO transport do. Offsets are those of virtio 1.2, 4.1.4, not taken from what is tested.
#include "socket_guest.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

extern "C" {
#include "core/virtio_pci.h"
}

using bulkhead_test::SocketGuest;

namespace virtio_pci_test {
namespace {

constexpr uint64_t bar = 0x1'0A000000;
constexpr uint32_t all = 0xFFFFFFFF;

struct Field {
    uint32_t at;
    uint32_t bytes;
    uint32_t mmio; // register of the MMIO transport that is written; 0: none
};

constexpr std::array<Field, 19> common = {{{0x00, 4, 0x14},
                                           {0x04, 4, 0},
                                           {0x08, 4, 0x24},
                                           {0x0C, 4, 0x20},
                                           {0x10, 2, 0},
                                           {0x12, 2, 0},
                                           {0x14, 1, 0x70},
                                           {0x15, 1, 0},
                                           {0x16, 2, 0x30},
                                           {0x18, 2, 0x38},
                                           {0x1A, 2, 0},
                                           {0x1C, 2, 0x44},
                                           {0x1E, 2, 0},
                                           {0x20, 4, 0x80},
                                           {0x24, 4, 0x84},
                                           {0x28, 4, 0x90},
                                           {0x2C, 4, 0x94},
                                           {0x30, 4, 0xA0},
                                           {0x34, 4, 0xA4}}};

class VirtioPci : public testing::Test {
protected:
    VirtioPci()
    {
        virtio_pci_init(&pci, VSOCK_DEVICE_ID, bar);
        guest.mmio.config_bytes = 8;
        guest.mmio.config[0] = 3;
    }

    uint32_t config(uint32_t offset) { return virtio_pci_config_read(&pci, &guest.mmio, offset); }
    void set_config(uint32_t offset, uint32_t value, uint32_t mask = all)
    {
        virtio_pci_config_write(&pci, offset, mask, value);
    }
    uint64_t read(uint32_t offset, uint32_t bytes)
    {
        uint64_t value = ~uint64_t{0};
        EXPECT_TRUE(virtio_pci_read(&guest.mmio, offset, bytes, &value)) << std::hex << offset;
        return value;
    }
    virtio_mmio_event write(uint32_t offset, uint32_t bytes, uint64_t value)
    {
        virtio_mmio_event event{};
        EXPECT_TRUE(virtio_pci_write(&guest.mmio, &guest.memory, offset, bytes, value, &event, &notified))
            << std::hex << offset;
        return event;
    }
    // The place behind the BAR that the capability of this type names.
    uint32_t place(uint32_t type)
    {
        for (uint32_t at = config(0x34) & 0xFF; at != 0; at = config(at) >> 8 & 0xFF) {
            if (config(at) >> 24 == type) {
                return config(at + 8);
            }
        }
        ADD_FAILURE() << "no capability of type " << type;
        return 0;
    }
    void set_up_queue(uint16_t number, uint16_t entries)
    {
        write(0x16, 2, number);
        if (entries != 0) {
            write(0x18, 2, entries);
        }
        const std::array<uint64_t, 3> at = {guest.queue_base(number), guest.memory.base + 0x4000,
                                            guest.memory.base + 0x6000};
        for (uint32_t i = 0; i < at.size(); i++) {
            write(0x20 + 8 * i, 4, at[i] & all);
            write(0x24 + 8 * i, 4, at[i] >> 32);
        }
    }

    SocketGuest guest{0, 3};
    virtio_pci pci{};
    uint32_t notified = 99;
};

TEST_F(VirtioPci, D3_ItIsAModernFunctionOfASocketDevice)
{
    EXPECT_EQ(config(0x00), 0x10531AF4u);
    EXPECT_EQ(config(0x08) & 0xFF, 1u) << "revision";
    EXPECT_GE(config(0x2C) >> 16, 0x40u) << "subsystem";
    EXPECT_EQ(config(0x0C), 0u) << "header type 0, one function";
    EXPECT_EQ(config(0x3C), 0x100u) << "INTA";
    EXPECT_EQ(config(0x04), 0x00100000u) << "has capabilities; off";
    EXPECT_EQ(config(0x10), 0x0A000004u);
    EXPECT_EQ(config(0x14), 1u);
    set_config(0x10, all);
    set_config(0x14, all);
    EXPECT_EQ(config(0x10), 0xFFFFF004u) << "4 KiB";
    EXPECT_EQ(config(0x14), all);
    set_config(0x10, 0x12345000);
    EXPECT_EQ(config(0x10), 0x0A000004u) << "it cannot be moved";
    set_config(0x30, all);
    EXPECT_EQ(config(0x30), 0u) << "no expansion ROM";
    EXPECT_EQ(config(0x100), 0u) << "no extended capabilities";
}

TEST_F(VirtioPci, D3_ItHasEachCapabilityOfVirtioOnceAndNoOther)
{
    std::map<uint32_t, std::pair<uint32_t, uint32_t>> found; // type: place and size
    uint32_t end = 0x40;

    for (uint32_t at = config(0x34); at != 0; at = config(at) >> 8 & 0xFF) {
        ASSERT_LT(found.size(), 5u);
        EXPECT_EQ(at % 4, 0u);
        EXPECT_GE(at, end) << "capabilities overlap";
        EXPECT_EQ(config(at) & 0xFF, 0x09u) << "vendor specific";
        end = at + (config(at) >> 16 & 0xFF);
        EXPECT_EQ(config(at + 4), 0u) << "BAR 0";
        found[config(at) >> 24] = {config(at + 8), config(at + 12)};
    }
    ASSERT_EQ(found.size(), 5u);
    EXPECT_EQ(found.begin()->first, 1u);
    EXPECT_EQ(found.rbegin()->first, 5u);
    EXPECT_EQ(found[1].second, 56u);
    EXPECT_GE(found[2].second, 2u);
    EXPECT_EQ(found[3].second, 1u);
    EXPECT_EQ(found[4].second, 8u);
    for (uint32_t a = 1; a <= 4; a++) {
        EXPECT_EQ(found[a].first % 4, 0u);
        EXPECT_LE(found[a].first + found[a].second, 0x1000u);
        for (uint32_t b = 1; b < a; b++) {
            EXPECT_TRUE(found[a].first + found[a].second <= found[b].first ||
                        found[b].first + found[b].second <= found[a].first);
        }
    }
}

TEST_F(VirtioPci, D3_ADriverSetsTheDeviceUp)
{
    EXPECT_EQ(read(0x12, 2), VSOCK_QUEUES);
    EXPECT_EQ(read(0x10, 2), 0xFFFFu) << "no MSI-X";
    EXPECT_EQ(write(0x14, 1, 3), VIRTIO_MMIO_CHANGED);
    write(0x00, 4, 1);
    EXPECT_EQ(read(0x00, 4), 1u);
    EXPECT_EQ(read(0x04, 4), VSOCK_DEVICE_FEATURES >> 32);
    write(0x08, 4, 1);
    write(0x0C, 4, 1);
    EXPECT_EQ(read(0x0C, 4), 1u);
    write(0x14, 1, 11);
    EXPECT_EQ(read(0x14, 1), 11u);
    for (uint16_t number = 0; number < VSOCK_QUEUES; number++) {
        set_up_queue(number,
                     number == 2 ? 0 : 32); // one of the largest size, which the driver has not written
        EXPECT_EQ(read(0x16, 2), number);
        EXPECT_EQ(read(0x18, 2), number == 2 ? VIRTQUEUE_MOST_ENTRIES : 32);
        EXPECT_EQ(read(0x20, 4) | read(0x24, 4) << 32, guest.queue_base(number));
        EXPECT_EQ(read(0x1A, 2), 0xFFFFu);
        EXPECT_EQ(read(0x1C, 2), 0u);
        EXPECT_EQ(write(0x1C, 2, 1), VIRTIO_MMIO_CHANGED);
        EXPECT_EQ(read(0x1C, 2), 1u);
        EXPECT_EQ(guest.mmio.device.queues[number].entries, number == 2 ? VIRTQUEUE_MOST_ENTRIES : 32);
        write(0x1C, 2, 0);
        EXPECT_EQ(read(0x1C, 2), 1u) << "a driver cannot disable a queue";
        EXPECT_EQ(guest.mmio.device.retiring, 0u);
    }
    write(0x16, 2, VSOCK_QUEUES);
    EXPECT_EQ(read(0x18, 2), 0u) << "there is no such queue";
    EXPECT_EQ(read(0x1C, 2), 0u);
    write(0x1C, 2, 1);
    write(0x14, 1, 15);
    EXPECT_TRUE(virtio_device_runs(&guest.mmio.device));
    EXPECT_EQ(write(place(2), 2, VSOCK_QUEUE_TX), VIRTIO_MMIO_NOTIFIED);
    EXPECT_EQ(notified, VSOCK_QUEUE_TX);
    EXPECT_EQ(write(place(2), 2, VSOCK_QUEUES), VIRTIO_MMIO_NOTHING);
    EXPECT_EQ(read(place(4), 4), 3u) << "its CID";
    EXPECT_EQ(read(place(4), 8), 3u);
    EXPECT_EQ(write(0x14, 1, 0), VIRTIO_MMIO_CHANGED);
    EXPECT_TRUE(guest.mmio.device.stopping);
}

TEST_F(VirtioPci, D3_ReadingTheStatusOfInterruptsClearsItAndTheLine)
{
    EXPECT_FALSE(virtio_pci_line(&pci, &guest.mmio));
    guest.mmio.device.interrupts = 3;
    EXPECT_TRUE(virtio_pci_line(&pci, &guest.mmio));
    EXPECT_EQ(config(0x04) & 0x80000, 0x80000u);
    set_config(0x04, 0x400);
    EXPECT_FALSE(virtio_pci_line(&pci, &guest.mmio)) << "disabled";
    EXPECT_EQ(config(0x04) & 0x80400, 0x80400u);
    set_config(0x04, 0x006);
    EXPECT_TRUE(virtio_pci_line(&pci, &guest.mmio));
    EXPECT_EQ(config(0x04) & 0xFFFF, 6u);
    EXPECT_EQ(read(place(3), 1), 3u);
    EXPECT_EQ(read(place(3), 1), 0u);
    EXPECT_FALSE(virtio_pci_line(&pci, &guest.mmio));
    set_config(0x04, 0x406);
    virtio_pci_reset(&pci);
    EXPECT_EQ(config(0x04), 0x00100000u);
}

TEST_F(VirtioPci, D3_AnAccessOfAnotherSizeThanTheFieldsDoesNothing)
{
    std::map<uint32_t, uint32_t> sizes; // of fields
    for (const Field &field : common) {
        sizes[field.at] = field.bytes;
    }
    guest.mmio.device.interrupts = 3;
    const virtio_mmio before = guest.mmio;
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
        for (uint32_t at = 0; at < 0x38; at += bytes) {
            uint64_t value = 0;
            virtio_mmio_event event{};
            const bool fits = sizes.count(at) != 0 && sizes[at] == bytes;
            EXPECT_EQ(virtio_pci_read(&guest.mmio, at, bytes, &value), fits) << at << " " << bytes;
            if (!fits) {
                EXPECT_FALSE(virtio_pci_write(&guest.mmio, &guest.memory, at, bytes, 1, &event, &notified));
                EXPECT_EQ(event, VIRTIO_MMIO_NOTHING);
            }
        }
        uint64_t value = 0;
        virtio_mmio_event event{};
        if (bytes != 1) {
            EXPECT_FALSE(virtio_pci_read(&guest.mmio, place(3), bytes, &value));
        }
        if (bytes != 2) {
            EXPECT_FALSE(virtio_pci_write(&guest.mmio, &guest.memory, place(2), bytes, 1, &event, &notified));
        }
    }
    EXPECT_EQ(std::memcmp(&before, &guest.mmio, sizeof before), 0);
}

TEST_F(VirtioPci, D3_TheWindowReachesRegistersOfItsSizeOnly)
{
    uint32_t at = 0;
    uint32_t window = 0;
    for (uint32_t cap = config(0x34); cap != 0; cap = config(cap) >> 8 & 0xFF) {
        window = config(cap) >> 24 == 5 ? cap : window;
    }
    ASSERT_NE(window, 0u);
    EXPECT_EQ(virtio_pci_window(&pci, window + 16, &at), 0u) << "no size";
    set_config(window + 8, 0x14);
    set_config(window + 12, 1);
    EXPECT_EQ(config(window + 8), 0x14u);
    EXPECT_EQ(config(window + 12), 1u);
    EXPECT_EQ(virtio_pci_window(&pci, window + 16, &at), 1u);
    EXPECT_EQ(at, 0x14u);
    EXPECT_EQ(virtio_pci_window(&pci, window + 12, &at), 0u) << "not its data";
    set_config(window + 4, 1, 0xFF);
    EXPECT_EQ(virtio_pci_window(&pci, window + 16, &at), 0u) << "another BAR";
    set_config(window + 4, 0, 0xFF);
    for (const uint32_t bytes : {0u, 3u, 8u, 0x101u, all}) {
        set_config(window + 12, bytes);
        EXPECT_EQ(virtio_pci_window(&pci, window + 16, &at), 0u) << bytes;
    }
    set_config(window + 12, 4);
    for (const uint32_t offset : {0x16u, 0x1000u, all - 3}) {
        set_config(window + 8, offset);
        EXPECT_EQ(virtio_pci_window(&pci, window + 16, &at), 0u) << offset;
    }
    set_config(window + 8, 0xFFC);
    EXPECT_EQ(virtio_pci_window(&pci, window + 16, &at), 4u);
}

// Each write leaves the same state as the register of the MMIO transport that it stands for.
TEST_F(VirtioPci, D3_200000RandomWritesDoWhatThoseOfTheMmioTransportDo)
{
    SocketGuest twin{0, 3};
    twin.mmio = guest.mmio;
    std::mt19937 random(7);
    const std::array<uint64_t, 6> typical = {0, 1, 3, 11, 15, 32};

    for (int i = 0; i < 200'000; i++) {
        const bool notify = random() % 16 == 0;
        const Field field = notify ? Field{place(2), 2, 0x50} : common[random() % common.size()];
        const uint64_t most = (uint64_t{1} << 8 * field.bytes) - 1;
        const uint64_t value = random() % 8 == 0
                                   ? (guest.memory.base + 0x1000 * (random() % 16)) & most
                                   : (random() % 2 == 0 ? random() : typical[random() % 6]) & most;
        virtio_mmio_event there{};
        uint32_t queue = 99;
        const bool ready = field.at == 0x1C && !notify;

        if (ready && value == 1 && twin.read(0x34) != 0) {
            const auto entries = guest.mmio.device.queues[guest.mmio.queue_select].entries;
            twin.write(0x38, entries != 0 ? entries : VIRTQUEUE_MOST_ENTRIES);
        }
        if (field.mmio != 0 && (!ready || value == 1)) {
            virtio_mmio_write(&twin.mmio, &twin.memory, field.mmio, 4, value, &there, &queue);
        }
        notified = 99;
        const virtio_mmio_event here = write(field.at, field.bytes, value);
        ASSERT_EQ(here, there);
        ASSERT_EQ(notified, queue);
        ASSERT_EQ(std::memcmp(&guest.mmio, &twin.mmio, sizeof twin.mmio), 0) << std::hex << field.at;
        if (guest.mmio.device.stopping || random() % 100 == 0) {
            virtio_mmio_reset(&guest.mmio);
            virtio_mmio_reset(&twin.mmio);
        }
    }
}

} // namespace
} // namespace virtio_pci_test
